// Interface of a security mechanism for RPCSEC_GSS (RFC 2743). Kerberos is one (frontends/nfs/kerberos); tests have
// their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontends/wire/reply_buffer.h"

namespace stoa::rpc {

using wire::ReplyBuffer;

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
  virtual bool append_mic(std::span<const std::byte> message, ReplyBuffer& out) = 0;
  virtual bool unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) = 0;
  virtual bool append_wrapped(std::span<const std::byte> message, ReplyBuffer& out) = 0;
};

// Thread-safe.
class GssMechanism {
 public:
  virtual ~GssMechanism() = default;
  // A context that waits for its first token. Must not outlive the mechanism.
  virtual std::unique_ptr<GssContext> begin() = 0;
};

}  // namespace stoa::rpc
