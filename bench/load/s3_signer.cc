#include "bench/load/s3_signer.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <time.h>

#include <cstring>

namespace stoa::bench {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest sha256(std::string_view data) {
  Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest.data());
  return digest;
}

std::string hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// RFC 2104. OpenSSL's own looks the algorithm up at each call, which costs more than the hashing.
Digest hmac(std::string_view key, std::string_view message) {
  constexpr std::size_t kBlock = 64;
  const Digest shortened = key.size() > kBlock ? sha256(key) : Digest{};
  if (key.size() > kBlock) key = view(shortened);
  std::string inner(kBlock, '\x36');
  std::string outer(kBlock, '\x5c');
  for (std::size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  inner += message;
  outer += view(sha256(inner));
  return sha256(outer);
}

}  // namespace

std::string sha256_hex(std::string_view data) {
  return hex(sha256(data));
}

std::string md5_base64(std::string_view data) {
  std::array<unsigned char, 16> digest;
  EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_md5(), nullptr);
  std::array<unsigned char, 25> text;  // with a zero behind
  EVP_EncodeBlock(text.data(), digest.data(), digest.size());
  return {reinterpret_cast<const char*>(text.data()), text.size() - 1};
}

std::int64_t wall_clock_seconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec;
}

S3Signer::S3Signer(S3Keys keys, std::string host, std::function<std::int64_t()> now)
    : keys_(std::move(keys)), host_(std::move(host)), now_(std::move(now)) {}

void S3Signer::refresh_date() {
  const time_t second = now_();
  if (second == second_) return;
  second_ = second;
  tm parts{};
  gmtime_r(&second, &parts);
  char text[32];
  strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &parts);
  const bool new_day = date_.compare(0, 8, text, 8) != 0;
  date_ = text;
  if (!new_day) return;
  const std::string day = date_.substr(0, 8);
  scope_ = day + "/" + keys_.region + "/s3/aws4_request";
  const Digest by_day = hmac("AWS4" + keys_.secret_key, day);
  const Digest by_region = hmac(view(by_day), keys_.region);
  const Digest by_service = hmac(view(by_region), "s3");
  key_ = hmac(view(by_service), "aws4_request");
}

SignedHeaders S3Signer::sign(std::string_view method, std::string_view path, std::string_view query,
                             std::string_view payload_hash) {
  refresh_date();
  std::string canonical;
  canonical.reserve(512);
  canonical.append(method).append("\n").append(path).append("\n").append(query);
  canonical.append("\nhost:").append(host_).append("\nx-amz-content-sha256:").append(payload_hash);
  canonical.append("\nx-amz-date:")
      .append(date_)
      .append("\n\nhost;x-amz-content-sha256;x-amz-date\n")
      .append(payload_hash);
  std::string to_sign = "AWS4-HMAC-SHA256\n" + date_ + "\n" + scope_ + "\n" + sha256_hex(canonical);
  const Digest signature = hmac(view(key_), to_sign);
  return {.date = "x-amz-date: " + date_,
          .payload = "x-amz-content-sha256: " + std::string(payload_hash),
          .authorization = "Authorization: AWS4-HMAC-SHA256 Credential=" + keys_.access_key + "/" + scope_ +
                           ", SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=" + hex(signature)};
}

}  // namespace stoa::bench
