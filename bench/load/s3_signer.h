// AWS Signature Version 4, as far as a load generator needs it: host, date and payload hash signed, key kept for the
// day.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace stoa::bench {

struct S3Keys {
  std::string access_key;
  std::string secret_key;
  std::string region = "us-east-1";
};

std::string sha256_hex(std::string_view data);
std::string md5_base64(std::string_view data);  // of the header Content-MD5

std::int64_t wall_clock_seconds();

struct SignedHeaders {
  std::string date;           // "x-amz-date: ..."
  std::string payload;        // "x-amz-content-sha256: ..."
  std::string authorization;  // "Authorization: ..."
};

class S3Signer {
 public:
  // `now`: seconds since 1970; tests give a fixed one.
  S3Signer(S3Keys keys, std::string host, std::function<std::int64_t()> now = wall_clock_seconds);

  // `path` and `query` must be in canonical form already: percent-encoded, parameters sorted, "a=b&c=d".
  // `payload_hash`: 64 hex digits, or "UNSIGNED-PAYLOAD".
  SignedHeaders sign(std::string_view method, std::string_view path, std::string_view query,
                     std::string_view payload_hash);

 private:
  void refresh_date();

  S3Keys keys_;
  std::string host_;
  std::function<std::int64_t()> now_;
  std::int64_t second_ = 0;
  std::string date_;  // 20260102T030405Z
  std::string scope_;
  std::array<unsigned char, 32> key_{};
};

}  // namespace stoa::bench
