// A mechanism for tests of RPCSEC_GSS: tokens state the result in plain words, and checksums are no secret.
#pragma once

#include <algorithm>
#include <string>

#include "base/crc32c.h"
#include "frontends/nfs/rpc/gss_contexts.h"
#include "frontends/nfs/rpc/xdr.h"

namespace stoa::test {

// Tokens: "NAME" is complete at once, "more NAME" needs a second token, "NAME"; "bad" fails. The key is the name.
class ToyContext final : public rpc::GssContext {
 public:
  // `key`: as if a token had named it.
  explicit ToyContext(std::string key, std::chrono::seconds lifetime = {})
      : key_(std::move(key)), lifetime_(lifetime) {}
  rpc::GssStep accept(std::span<const std::byte> token) override {
    const std::string text(reinterpret_cast<const char*>(token.data()), token.size());
    if (text.empty() || text == "bad") return {.major = 9u << 16, .minor = 7};  // GSS_S_DEFECTIVE_TOKEN
    const bool more = text.starts_with("more ");
    key_ = more ? text.substr(5) : text;
    if (more) return {.major = rpc::GssStep::kContinueNeeded, .token = {std::byte{1}}};
    return {.token = {std::byte{2}}, .principal = text, .lifetime = lifetime_};
  }
  bool verify_mic(std::span<const std::byte> message, std::span<const std::byte> mic) override {
    return mic.size() == 4 && rpc::load_be32(mic.data()) == sum(message);
  }
  bool append_mic(std::span<const std::byte> message, rpc::ReplyBuffer& out) override {
    if (broken) return false;
    rpc::XdrWriter(out).u32(sum(message));
    return true;
  }
  bool unwrap(std::span<const std::byte> token, std::vector<std::byte>& message) override {
    if (token.size() < 4 || !verify_mic(token.subspan(4), token.first(4))) return false;
    message.assign(token.begin() + 4, token.end());
    for (std::byte& byte : message) byte ^= std::byte{0x5a};
    return true;
  }
  bool append_wrapped(std::span<const std::byte> message, rpc::ReplyBuffer& out) override {
    std::vector<std::byte> hidden(message.begin(), message.end());
    for (std::byte& byte : hidden) byte ^= std::byte{0x5a};
    if (!append_mic(hidden, out)) return false;
    out.append(hidden);
    return true;
  }
  bool broken = false;

 private:
  std::uint32_t sum(std::span<const std::byte> message) const {
    return crc32c(message) ^ crc32c(std::as_bytes(std::span(key_)));
  }
  std::string key_;
  const std::chrono::seconds lifetime_;
};

class ToyMechanism final : public rpc::GssMechanism {
 public:
  std::unique_ptr<rpc::GssContext> begin(std::span<const std::byte>) override {
    return std::make_unique<ToyContext>("", lifetime);
  }
  std::chrono::seconds lifetime{3600};
};

}  // namespace stoa::test
