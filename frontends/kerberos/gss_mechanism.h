// A security mechanism as servers see it (RFC 2743). Kerberos is one (keytab_mechanism.h); tests have their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontends/wire/reply_buffer.h"

namespace stoa::kerberos {

// Why a token is refused, as far as somebody can do something about it.
enum class GssRefusal : std::uint8_t {
  kOther,      // altered, bound to something else, no token at all, ...
  kExpired,    // the ticket's time is over
  kClockSkew,  // the clocks of both machines differ too much
  kNoKey,      // the keytab has no key for this ticket
};

// The result of one token of a client.
struct GssStep {
  static constexpr std::uint32_t kComplete = 0;        // GSS_S_COMPLETE
  static constexpr std::uint32_t kContinueNeeded = 1;  // GSS_S_CONTINUE_NEEDED
  std::uint32_t major = kComplete;
  std::uint32_t minor = 0;
  std::vector<std::byte> token{};  // for the client, also with some errors
  // With kComplete:
  std::string principal{};  // the client's identity; never empty
  std::chrono::seconds lifetime{0};
  // With errors:
  GssRefusal why = GssRefusal::kOther;
};

// The server's side of one security context. One thread at a time.
class GssContext {
 public:
  virtual ~GssContext() = default;
  // GSS_Accept_sec_context: the client's next token. May take some milliseconds, and reads files. A context whose step
  // has failed is useless.
  virtual GssStep accept(std::span<const std::byte> token) = 0;
  // GSS_VerifyMIC, GSS_GetMIC, GSS_Unwrap, GSS_Wrap with confidentiality. False: the message was altered, or the
  // context is invalid; nothing was appended.
  virtual bool verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic) = 0;
  virtual bool append_mic(std::span<const std::byte> message, wire::ReplyBuffer& out) = 0;
  virtual bool unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) = 0;
  virtual bool append_wrapped(std::span<const std::byte> message, wire::ReplyBuffer& out) = 0;
};

// Thread-safe.
class GssMechanism {
 public:
  virtual ~GssMechanism() = default;
  // A context that waits for its first token. Must not outlive the mechanism. `bindings`: what the client must have
  // bound its token to (application data of RFC 2743 1.1.6); a token that is bound to something else, or to nothing, is
  // refused. Empty: nothing is asked for.
  virtual std::unique_ptr<GssContext> begin(std::span<const std::byte> bindings) = 0;
};

}  // namespace stoa::kerberos
