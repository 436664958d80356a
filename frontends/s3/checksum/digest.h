// MD5, SHA-1 and SHA-256 as running values, and HMAC of the latter two. OpenSSL's block functions do the work, without
// the cost of its provider look-ups, which exceed the hashing of a small object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoa::s3 {

using Md5Value = std::array<std::uint8_t, 16>;
using Sha1Value = std::array<std::uint8_t, 20>;
using Sha256Value = std::array<std::uint8_t, 32>;

class Md5 {
 public:
  Md5();
  void update(std::span<const std::byte> data);
  Md5Value finish();

 private:
  alignas(8) std::array<std::byte, 96> state_;
};

class Sha1 {
 public:
  Sha1();
  void update(std::span<const std::byte> data);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  Sha1Value finish();

 private:
  alignas(8) std::array<std::byte, 96> state_;
};

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> data);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  Sha256Value finish();

 private:
  alignas(8) std::array<std::byte, 112> state_;
};

Sha256Value sha256(std::string_view text);
Md5Value md5(std::span<const std::byte> data);
Sha1Value hmac_sha1(std::span<const std::uint8_t> key, std::string_view text);
Sha256Value hmac_sha256(std::span<const std::uint8_t> key, std::string_view text);

std::string to_hex(std::span<const std::uint8_t> bytes);  // lower case
// Exactly out.size() bytes of hex, either case.
bool from_hex(std::string_view text, std::span<std::uint8_t> out);
std::string to_base64(std::span<const std::uint8_t> bytes);
// Canonical base64 with padding. Absent: anything else.
std::optional<std::string> from_base64(std::string_view text);
// Takes the same time wherever the difference is.
bool equal_constant_time(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b);

}  // namespace stoa::s3
