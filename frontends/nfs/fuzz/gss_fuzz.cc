// RPCSEC_GSS: credentials, verifiers, the bodies of the three services and the tokens that make contexts. The
// mechanism accepts tokens that begin with an even byte. The input is one call; the handle in it is replaced by a real
// one.
#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "frontends/nfs/rpc/gss_server.h"

namespace {

using namespace stoa;

bool is_even(std::span<const std::byte> bytes) {
  return !bytes.empty() && (static_cast<unsigned>(bytes[0]) & 1) == 0;
}

class AnyContext final : public rpc::GssContext {
 public:
  rpc::GssStep accept(std::span<const std::byte> token) override {
    if (!is_even(token)) return {.major = 1u << 16};
    if (token.size() > 1 && token[1] == std::byte{1}) return {.major = rpc::GssStep::kContinueNeeded};
    return {.token = {token.begin(), token.end()}, .principal = "fuzz@R", .lifetime = std::chrono::seconds(100)};
  }
  bool verify_mic(std::span<const std::byte>, std::span<const std::byte> mic) override { return is_even(mic); }
  bool append_mic(std::span<const std::byte> message, rpc::ReplyBuffer& out) override {
    out.append(message.first(std::min<std::size_t>(message.size(), 5)));
    return true;
  }
  bool unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) override {
    if (!is_even(token)) return false;
    message.assign(token.begin() + 1, token.end());
    return true;
  }
  bool append_wrapped(std::span<const std::byte> message, rpc::ReplyBuffer& out) override {
    out.append(message);
    out.append_zeros(1);
    return true;
  }
};

class AnyMechanism final : public rpc::GssMechanism {
 public:
  std::unique_ptr<rpc::GssContext> begin(std::span<const std::byte>) override { return std::make_unique<AnyContext>(); }
};

bool lies_within(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// A context that is complete; its handle.
std::vector<std::byte> make_context(rpc::GssServer& server) {
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  const std::array<std::byte, 8> token{{{}, {}, {}, std::byte{1}, {}, {}, {}, {}}};  // one byte, zero
  rpc::CallHeader header;
  header.gss = rpc::GssCredential{.procedure = rpc::GssProcedure::kInit};
  header.arguments = token;
  server.establish(header, {}, std::chrono::steady_clock::now(), out);
  rpc::XdrReader in(buffer.bytes());
  in.fixed(16);  // xid to the flavour of the verifier
  in.opaque(rpc::kAuthBytesMax);
  in.u32();
  const auto handle = in.opaque(64);
  STOA_ASSERT(in.ok() && handle.size() == sizeof(rpc::GssHandle));
  return {handle.begin(), handle.end()};
}

void check_reply(const rpc::GssServer& server, const rpc::GssCall& call, std::uint32_t xid) {
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  out.u32(7);  // something in front
  const std::size_t begin = buffer.size();
  out.u32(0);
  rpc::encode_accepted(out, xid, rpc::AcceptStatus::kSuccess);
  out.string("results");
  STOA_ASSERT(server.wrap(call, buffer, begin, 0));
  STOA_ASSERT(buffer.size() % 4 == 0);
  STOA_ASSERT((rpc::load_be32(buffer.bytes().data() + begin) & 0x7fff'ffff) == buffer.size() - begin - 4);
  STOA_ASSERT(rpc::load_be32(buffer.bytes().data() + begin + 4) == xid);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto record = std::as_bytes(std::span(data, size));
  rpc::CallHeader header;
  if (!rpc::decode_call(record, header)) return 0;
  STOA_ASSERT(lies_within(header.arguments, record) && lies_within(header.to_verify, record) &&
              lies_within(header.verifier, record));
  if (header.auth != rpc::AuthStatus::kOk || !header.gss) return 0;
  STOA_ASSERT(lies_within(header.gss->handle, record));

  MetricRegistry metrics;
  AnyMechanism mechanism;
  rpc::GssServer server(mechanism, {}, metrics);
  const std::vector<std::byte> handle = make_context(server);
  const auto now = std::chrono::steady_clock::now();
  if (rpc::GssServer::makes_context(header)) {
    rpc::ReplyBuffer buffer;
    rpc::XdrWriter out(buffer);
    server.establish(header, {}, now, out);
    STOA_ASSERT(buffer.size() >= 16 && buffer.size() % 4 == 0);
    return 0;
  }
  header.gss->handle = handle;
  std::shared_ptr<rpc::GssCall> call;
  const auto verdict = server.judge(header, now, call);
  const bool judged = verdict == rpc::GssServer::Verdict::kBelieved || verdict == rpc::GssServer::Verdict::kGarbage;
  STOA_ASSERT(judged == (call != nullptr));
  STOA_ASSERT((verdict == rpc::GssServer::Verdict::kDenied) == (header.auth != rpc::AuthStatus::kOk));
  if (!judged) return 0;
  if (verdict == rpc::GssServer::Verdict::kBelieved) {
    rpc::GssServer::show(*call, header);
    STOA_ASSERT(lies_within(header.arguments, record) || lies_within(header.arguments, call->plain));
    STOA_ASSERT(header.credential.principal == "fuzz@R");
  }
  check_reply(server, *call, header.xid);
  // Once only.
  std::shared_ptr<rpc::GssCall> again;
  rpc::decode_call(record, header);
  header.gss->handle = handle;
  STOA_ASSERT(server.judge(header, now, again) == rpc::GssServer::Verdict::kDrop);
  return 0;
}
