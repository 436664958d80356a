#include "frontends/nfs/rpc/message.h"

namespace stoa::rpc {
namespace {

constexpr std::uint32_t kAccepted = 0;
constexpr std::uint32_t kDenied = 1;
constexpr std::uint32_t kRpcMismatch = 0;
constexpr std::uint32_t kAuthError = 1;
constexpr std::size_t kFixedBytes = 24;  // xid to procedure
constexpr std::uint32_t kGssVersion = 1;

AuthStatus decode_auth_sys(std::span<const std::byte> body, Credential& credential) {
  XdrReader in(body);
  in.u32();  // The stamp means nothing to a server.
  credential.machine = in.string(kMachineNameBytesMax);
  credential.uid = in.u32();
  credential.gid = in.u32();
  const std::uint32_t count = in.u32();
  if (!in.ok() || count > kAuthSysGroupsMax) return AuthStatus::kBadCredential;
  for (std::uint32_t i = 0; i < count; ++i) credential.groups[i] = in.u32();
  if (!in.ok()) return AuthStatus::kBadCredential;
  credential.group_count = count;
  credential.sys = true;
  return AuthStatus::kOk;
}

// RFC 2203 5.3.1. The sequence number and the service of the two that make a context mean nothing (5.2.2).
AuthStatus decode_auth_gss(std::span<const std::byte> body, CallHeader& call) {
  XdrReader in(body);
  const std::uint32_t version = in.u32();
  const std::uint32_t procedure = in.u32();
  GssCredential gss{.sequence = in.u32()};
  const std::uint32_t service = in.u32();
  gss.handle = in.opaque(kAuthBytesMax);
  if (!in.ok() || in.left() != 0 || version != kGssVersion) return AuthStatus::kBadCredential;
  if (procedure > static_cast<std::uint32_t>(GssProcedure::kDestroy)) return AuthStatus::kBadCredential;
  gss.procedure = static_cast<GssProcedure>(procedure);
  const bool makes_context = gss.procedure == GssProcedure::kInit || gss.procedure == GssProcedure::kContinueInit;
  if (!makes_context) {
    if (service < static_cast<std::uint32_t>(GssService::kNone) ||
        service > static_cast<std::uint32_t>(GssService::kPrivacy)) {
      return AuthStatus::kBadCredential;
    }
    gss.service = static_cast<GssService>(service);
  }
  // All context procedures use NULL (5.2.2, 5.4).
  if (gss.procedure != GssProcedure::kData && call.procedure != 0) return AuthStatus::kBadCredential;
  call.gss = gss;
  return AuthStatus::kOk;
}

AuthStatus check_gss_verifier(const CallHeader& call, std::uint32_t flavor, std::span<const std::byte> verifier) {
  const bool makes_context =
      call.gss->procedure == GssProcedure::kInit || call.gss->procedure == GssProcedure::kContinueInit;
  if (makes_context) {
    const bool none = flavor == static_cast<std::uint32_t>(AuthFlavor::kNone) && verifier.empty();
    return none ? AuthStatus::kOk : AuthStatus::kBadVerifier;
  }
  return flavor == static_cast<std::uint32_t>(AuthFlavor::kGss) ? AuthStatus::kOk : AuthStatus::kGssCredentialProblem;
}

AuthStatus decode_auth(std::span<const std::byte> record, XdrReader& in, CallHeader& call) {
  const std::uint32_t flavor = in.u32();
  const auto body = in.opaque(kAuthBytesMax);
  if (!in.ok()) return AuthStatus::kBadCredential;
  call.to_verify = record.first(record.size() - in.left());
  const std::uint32_t verifier_flavor = in.u32();
  const auto verifier = in.opaque(kAuthBytesMax);
  if (!in.ok()) return AuthStatus::kBadVerifier;

  switch (static_cast<AuthFlavor>(flavor)) {
    case AuthFlavor::kNone:
      if (!body.empty()) return AuthStatus::kBadCredential;
      break;
    case AuthFlavor::kSys:
      if (const AuthStatus status = decode_auth_sys(body, call.credential); status != AuthStatus::kOk) return status;
      break;
    case AuthFlavor::kShort:
      // We never give out short-hand credentials, so the client must go back to the full one.
      return AuthStatus::kRejectedCredential;
    case AuthFlavor::kGss:
      if (const AuthStatus status = decode_auth_gss(body, call); status != AuthStatus::kOk) return status;
      call.verifier = verifier;
      return check_gss_verifier(call, verifier_flavor, verifier);
    default:
      return AuthStatus::kBadCredential;
  }
  // RFC 5531 appendix A: the verifier that goes with these flavors is AUTH_NONE of length zero.
  if (verifier_flavor != static_cast<std::uint32_t>(AuthFlavor::kNone) || !verifier.empty()) {
    return AuthStatus::kBadVerifier;
  }
  return AuthStatus::kOk;
}

}  // namespace

bool decode_call(std::span<const std::byte> record, CallHeader& call) {
  if (record.size() < kFixedBytes) return false;
  XdrReader in(record);
  call.xid = in.u32();
  if (in.u32() != kCall) return false;
  call.rpc_version = in.u32();
  call.program = in.u32();
  call.version = in.u32();
  call.procedure = in.u32();
  call.auth = decode_auth(record, in, call);
  call.arguments = in.rest();
  return true;
}

void encode_accepted(XdrWriter& out, std::uint32_t xid, AcceptStatus status) {
  // The same in each reply, so in one piece: kReply, kAccepted, and a verifier of AUTH_NONE without a
  // body.
  std::array<std::byte, 24> words{};
  store_be32(words.data(), xid);
  store_be32(words.data() + 4, kReply);
  store_be32(words.data() + 8, kAccepted);
  store_be32(words.data() + 12, static_cast<std::uint32_t>(AuthFlavor::kNone));
  store_be32(words.data() + 20, static_cast<std::uint32_t>(status));
  out.fixed(words);
}

void encode_program_mismatch(XdrWriter& out, std::uint32_t xid, std::uint32_t low, std::uint32_t high) {
  encode_accepted(out, xid, AcceptStatus::kProgramMismatch);
  out.u32(low);
  out.u32(high);
}

void encode_auth_error(XdrWriter& out, std::uint32_t xid, AuthStatus why) {
  out.u32(xid);
  out.u32(kReply);
  out.u32(kDenied);
  out.u32(kAuthError);
  out.u32(static_cast<std::uint32_t>(why));
}

void encode_rpc_mismatch(XdrWriter& out, std::uint32_t xid) {
  out.u32(xid);
  out.u32(kReply);
  out.u32(kDenied);
  out.u32(kRpcMismatch);
  out.u32(kRpcVersion);
  out.u32(kRpcVersion);
}

}  // namespace stoa::rpc
