// RPC call and reply headers (RFC 5531 section 9), with the supported credentials: AUTH_NONE, AUTH_SYS and RPCSEC_GSS
// (RFC 2203). The last is decoded here and checked by gss_server.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "frontends/nfs/rpc/xdr.h"

namespace stoa::rpc {

inline constexpr std::uint32_t kCall = 0;
inline constexpr std::uint32_t kReply = 1;
inline constexpr std::uint32_t kRpcVersion = 2;
inline constexpr std::size_t kAuthBytesMax = 400;         // RFC 5531 8.2: opaque body<400>
inline constexpr std::size_t kAuthSysGroupsMax = 16;      // RFC 5531 appendix A
inline constexpr std::size_t kMachineNameBytesMax = 255;  // RFC 5531 appendix A

enum class AuthFlavor : std::uint32_t { kNone = 0, kSys = 1, kShort = 2, kGss = 6 };

enum class AcceptStatus : std::uint32_t {
  kSuccess = 0,
  kProgramUnavailable = 1,
  kProgramMismatch = 2,
  kProcedureUnavailable = 3,
  kGarbageArguments = 4,
  kSystemError = 5,
};

enum class AuthStatus : std::uint32_t {
  kOk = 0,
  kBadCredential = 1,
  kRejectedCredential = 2,
  kBadVerifier = 3,
  kRejectedVerifier = 4,
  kTooWeak = 5,
  kGssCredentialProblem = 13,  // RFC 2203 4
  kGssContextProblem = 14,
};

// RFC 2203 5: rpc_gss_proc_t, rpc_gss_service_t
enum class GssProcedure : std::uint32_t { kData = 0, kInit = 1, kContinueInit = 2, kDestroy = 3 };
enum class GssService : std::uint32_t { kNone = 1, kIntegrity = 2, kPrivacy = 3 };

// rpc_gss_cred_vers_1_t
struct GssCredential {
  GssProcedure procedure = GssProcedure::kData;
  std::uint32_t sequence = 0;
  GssService service = GssService::kNone;
  std::span<const std::byte> handle{};  // borrows the call
};

// AUTH_SYS with `sys`, as the client claims it; a Kerberos principal, proven; or AUTH_NONE. The program maps it to a
// user, and squashes.
struct Credential {
  bool sys = false;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t group_count = 0;
  std::array<std::uint32_t, kAuthSysGroupsMax> groups{};
  std::string_view machine{};    // borrows the call
  std::string_view principal{};  // "ann@EXAMPLE.ORG"; empty: not by RPCSEC_GSS. Valid as long as the call
  GssService service = GssService::kNone;
};

struct CallHeader {
  std::uint32_t xid = 0;
  std::uint32_t rpc_version = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  AuthStatus auth = AuthStatus::kOk;  // anything else: the call is to be denied with it
  Credential credential{};
  std::span<const std::byte>
      arguments{};  // the data behind the verifier; of RPCSEC_GSS, once accepted, without its wrapping
  std::optional<GssCredential> gss{};
  std::span<const std::byte> to_verify{};  // of RPCSEC_GSS: from the xid to the end of the credential
  std::span<const std::byte> verifier{};   // likewise: the checksum of that
};

// False: too damaged for a reply (shorter than the fixed part, or not a call), so the connection is useless. Later
// damage is reported in `auth`.
bool decode_call(std::span<const std::byte> record, CallHeader& call);

// Each of these writes one whole reply header; results follow kSuccess.
void encode_accepted(XdrWriter& out, std::uint32_t xid, AcceptStatus status);
void encode_program_mismatch(XdrWriter& out, std::uint32_t xid, std::uint32_t low, std::uint32_t high);
void encode_auth_error(XdrWriter& out, std::uint32_t xid, AuthStatus why);
void encode_rpc_mismatch(XdrWriter& out, std::uint32_t xid);

}  // namespace stoa::rpc
