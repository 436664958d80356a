// A client of RPCSEC_GSS (RFC 2203) for tests, over the client's half of a context of any mechanism. It can do
// everything wrong.
#pragma once

#include <functional>
#include <optional>

#include "frontends/nfs/rpc/gss_contexts.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::test {

// rpc_gss_init_res
struct GssInitResult {
  Bytes handle;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t window = 0;
  Bytes token;
};

// Faults to make in one call.
struct GssFaults {
  std::uint32_t version = 1;
  std::optional<std::uint32_t> procedure{};  // gss_proc
  std::optional<std::uint32_t> sequence{};   // else the next one
  std::optional<std::uint32_t> inner_sequence{};
  std::optional<std::uint32_t> service{};  // as in the header
  bool bad_mic = false;                    // of the header
  bool bad_body = false;                   // its last byte
};

class GssCaller {
 public:
  // `target`: program, version of the calls that make and end the context.
  GssCaller(WireClient& wire, rpc::GssContext& context, rpc::GssService service, const CallSpec& target)
      : wire_(wire), context_(context), service_(service), target_(target) {}

  // RPCSEC_GSS_INIT (or CONTINUE_INIT with the present handle) with this token; takes over the handle.
  std::optional<GssInitResult> init(std::span<const std::byte> token, bool more = false);
  // A reply with a right verifier has its results unwrapped; one with a wrong verifier or wrapping is none.
  std::optional<WireReply> call(const CallSpec& spec, std::span<const std::byte> arguments = {},
                                const GssFaults& faults = {});
  Bytes encode_call(const CallSpec& spec, std::span<const std::byte> arguments, const GssFaults& faults = {});
  std::optional<WireReply> read_reply(std::uint32_t sequence);
  std::optional<WireReply> destroy();

  WireReply last_reply{};  // of init()
  Bytes handle{};
  std::uint32_t sequence = 0;  // of the last call

 private:
  WireClient& wire_;
  rpc::GssContext& context_;
  const rpc::GssService service_;
  const CallSpec target_;
};

}  // namespace stoa::test
