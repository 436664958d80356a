// The block functions are deprecated since OpenSSL 3 in favour of EVP, which costs microseconds for each context.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "frontends/s3/checksum/digest.h"

#include <openssl/crypto.h>
#include <openssl/md5.h>
#include <openssl/sha.h>

#include <cstring>
#include <memory>

namespace stoa::s3 {
namespace {

template <class Context, std::size_t N>
Context* as(std::array<std::byte, N>& state) {
  static_assert(sizeof(Context) <= N && alignof(Context) <= 8);
  return std::launder(reinterpret_cast<Context*>(state.data()));
}

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

Md5::Md5() {
  MD5_Init(new (state_.data()) MD5_CTX);
}
void Md5::update(std::span<const std::byte> data) {
  MD5_Update(as<MD5_CTX>(state_), data.data(), data.size());
}
Md5Value Md5::finish() {
  Md5Value value;
  MD5_Final(value.data(), as<MD5_CTX>(state_));
  return value;
}

Sha1::Sha1() {
  SHA1_Init(new (state_.data()) SHA_CTX);
}
void Sha1::update(std::span<const std::byte> data) {
  SHA1_Update(as<SHA_CTX>(state_), data.data(), data.size());
}
Sha1Value Sha1::finish() {
  Sha1Value value;
  SHA1_Final(value.data(), as<SHA_CTX>(state_));
  return value;
}

Sha256::Sha256() {
  SHA256_Init(new (state_.data()) SHA256_CTX);
}
void Sha256::update(std::span<const std::byte> data) {
  SHA256_Update(as<SHA256_CTX>(state_), data.data(), data.size());
}
Sha256Value Sha256::finish() {
  Sha256Value value;
  SHA256_Final(value.data(), as<SHA256_CTX>(state_));
  return value;
}

Sha256Value sha256(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish();
}

Md5Value md5(std::span<const std::byte> data) {
  Md5 hash;
  hash.update(data);
  return hash.finish();
}

namespace {

// RFC 2104 2.
template <class Hash>
auto hmac(std::span<const std::uint8_t> key, std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::array<std::uint8_t, kBlock> inner{};
  if (key.size() > kBlock) {
    Hash shortened;
    shortened.update(std::as_bytes(key));
    const auto hashed = shortened.finish();
    std::memcpy(inner.data(), hashed.data(), hashed.size());
  } else if (!key.empty()) {
    std::memcpy(inner.data(), key.data(), key.size());
  }
  std::array<std::uint8_t, kBlock> outer = inner;
  for (auto& byte : inner) byte ^= 0x36;
  for (auto& byte : outer) byte ^= 0x5c;
  Hash first;
  first.update(std::as_bytes(std::span(inner)));
  first.update(text);
  const auto middle = first.finish();
  Hash second;
  second.update(std::as_bytes(std::span(outer)));
  second.update(std::as_bytes(std::span(middle)));
  return second.finish();
}

}  // namespace

Sha1Value hmac_sha1(std::span<const std::uint8_t> key, std::string_view text) {
  return hmac<Sha1>(key, text);
}
Sha256Value hmac_sha256(std::span<const std::uint8_t> key, std::string_view text) {
  return hmac<Sha256>(key, text);
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out(bytes.size() * 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out[2 * i] = kHex[bytes[i] >> 4];
    out[2 * i + 1] = kHex[bytes[i] & 15];
  }
  return out;
}

bool from_hex(std::string_view text, std::span<std::uint8_t> out) {
  if (text.size() != out.size() * 2) return false;
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t group = static_cast<std::uint32_t>(bytes[i]) << 16 |
                                (left > 1 ? static_cast<std::uint32_t>(bytes[i + 1]) << 8 : 0) |
                                (left > 2 ? static_cast<std::uint32_t>(bytes[i + 2]) : 0);
    out.push_back(kBase64[group >> 18]);
    out.push_back(kBase64[group >> 12 & 63]);
    out.push_back(left > 1 ? kBase64[group >> 6 & 63] : '=');
    out.push_back(left > 2 ? kBase64[group & 63] : '=');
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const std::size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] != '=' ? 1 : 2;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int digit = k >= 4 - padding ? 0 : base64_digit(text[i + k]);
      if (digit < 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(digit);
    }
    if ((padding == 1 && (group & 0xff) != 0) || (padding == 2 && (group & 0xffff) != 0)) return std::nullopt;
    out.push_back(static_cast<char>(group >> 16));
    if (padding < 2) out.push_back(static_cast<char>(group >> 8 & 0xff));
    if (padding < 1) out.push_back(static_cast<char>(group & 0xff));
  }
  return out;
}

bool equal_constant_time(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace stoa::s3
