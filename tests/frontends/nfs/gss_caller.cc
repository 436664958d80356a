#include "tests/frontends/nfs/gss_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kGss = 6;

Bytes bytes_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

Bytes credential(std::uint32_t version, std::uint32_t procedure, std::uint32_t sequence, std::uint32_t service,
                 std::span<const std::byte> handle) {
  return Xdr().u32(version).u32(procedure).u32(sequence).u32(service).opaque(handle).bytes();
}

}  // namespace

std::optional<GssInitResult> GssCaller::init(std::span<const std::byte> token, bool more) {
  CallSpec spec = target_;
  spec.auth_flavor = kGss;
  spec.auth_body =
      credential(1, more ? 2 : 1, 0, 0, more ? std::span<const std::byte>(handle) : std::span<const std::byte>());
  const auto reply = wire_.call(spec, Xdr().opaque(token));
  if (!reply) return std::nullopt;
  last_reply = *reply;
  if (reply->reply_status != 0 || reply->accept_status != 0) return std::nullopt;
  rpc::XdrReader in(reply->results);
  GssInitResult result;
  result.handle = bytes_of(in.opaque(64));
  result.major = in.u32();
  result.minor = in.u32();
  result.window = in.u32();
  result.token = bytes_of(in.opaque(65536));
  if (!in.ok() || in.left() != 0) return std::nullopt;
  handle = result.handle;
  return result;
}

Bytes GssCaller::encode_call(const CallSpec& wanted, std::span<const std::byte> arguments, const GssFaults& faults) {
  CallSpec spec = wanted;
  sequence = faults.sequence.value_or(sequence + 1);
  const std::uint32_t service = faults.service.value_or(static_cast<std::uint32_t>(service_));
  spec.auth_flavor = kGss;
  spec.auth_body = credential(faults.version, faults.procedure.value_or(0), sequence, service, handle);
  // The part covered by the verifier: all up to the end of the credential. encode() puts flavor and length of the
  // verifier behind it.
  spec.verifier_flavor = kGss;
  spec.verifier_body.clear();
  const Bytes head = encode(spec);
  rpc::ReplyBuffer mic;
  context_.append_mic(std::span(head).first(head.size() - 8), mic);
  spec.verifier_body = bytes_of(mic.bytes());
  if (faults.bad_mic) spec.verifier_body.back() ^= std::byte{1};

  const Bytes plain = Xdr().u32(faults.inner_sequence.value_or(sequence)).raw(arguments).bytes();
  Bytes body = bytes_of(arguments);
  if (service_ == rpc::GssService::kIntegrity) {
    rpc::ReplyBuffer sum;
    context_.append_mic(plain, sum);
    body = Xdr().opaque(plain).opaque(sum.bytes()).bytes();
  } else if (service_ == rpc::GssService::kPrivacy) {
    rpc::ReplyBuffer token;
    context_.append_wrapped(plain, token);
    body = Xdr().opaque(token.bytes()).bytes();
  }
  if (faults.bad_body) body.at(body.size() - 4) ^= std::byte{1};
  return encode(spec, body);
}

std::optional<WireReply> GssCaller::call(const CallSpec& spec, std::span<const std::byte> arguments,
                                         const GssFaults& faults) {
  if (!wire_.send_record(encode_call(spec, arguments, faults))) return std::nullopt;
  return read_reply(sequence);
}

std::optional<WireReply> GssCaller::read_reply(std::uint32_t expected) {
  auto reply = wire_.receive();
  if (!reply || reply->reply_status != 0) return reply;
  const Bytes number = Xdr().u32(expected).bytes();
  if (reply->verifier_flavor != kGss || !context_.verify_mic(number, reply->verifier)) return std::nullopt;
  if (reply->accept_status != 0 || service_ == rpc::GssService::kNone) return reply;
  rpc::XdrReader in(reply->results);
  Bytes plain;
  if (service_ == rpc::GssService::kIntegrity) {
    plain = bytes_of(in.opaque(reply->results.size()));
    if (!context_.verify_mic(plain, in.opaque(400))) return std::nullopt;
  } else if (!context_.unwrap(in.opaque(reply->results.size()), plain)) {
    return std::nullopt;
  }
  if (!in.ok() || in.left() != 0 || plain.size() < 4 || rpc::load_be32(plain.data()) != expected) return std::nullopt;
  reply->results.assign(plain.begin() + 4, plain.end());
  return reply;
}

std::optional<WireReply> GssCaller::destroy() {
  return call(target_, {}, {.procedure = 3});
}

}  // namespace stoa::test
