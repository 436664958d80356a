// AWS Signature Version 4 ("Authenticating Requests", Amazon S3 API reference): a client's claim, and the check of its
// signature. Knows no users: the caller looks the secret key up in between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/s3/checksum/digest.h"
#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

// "AKID/20130524/us-east-1/s3/aws4_request"
struct CredentialScope {
  std::string access_key;
  std::string date;  // YYYYMMDD
  std::string region;
  std::string text() const { return date + "/" + region + "/s3/aws4_request"; }
};

struct Authorization {
  bool presigned = false;
  CredentialScope scope{};
  std::vector<std::string> signed_headers{};  // lower case, sorted by the client
  std::string signature{};                    // 64 hex digits
  std::string date_time{};                    // x-amz-date, or made from Date
  std::int64_t seconds = 0;                   // the same as a number
  std::uint64_t expires_seconds = 0;          // presigned only
};

inline constexpr std::uint64_t kPresignedSecondsMax = 604'800;

// Reads the claim from header or query, the place found by mechanism_of. Errors: those of malformed claims.
Outcome<Authorization> parse_authorization(const Request& request, bool presigned);

// A request signed for another region means another server. Errors: kAuthorizationHeaderMalformed or
// kAuthorizationQueryParametersError, with the region to use instead, by which SDKs retry.
Outcome<void> check_region(const Authorization& claim, std::string_view region);

// Errors: kRequestTimeTooSkewed, or for presigned requests kAccessDenied when not yet valid or expired.
// kAuthorizationHeaderMalformed or kAuthorizationQueryParametersError when the credential is of another day.
Outcome<void> check_time(const Authorization& claim, std::int64_t now_seconds);

// "Create a canonical request". `payload_hash` is the text of its last line.
std::string canonical_request(const Request& request, const Authorization& claim, std::string_view payload_hash);
std::string string_to_sign(const Authorization& claim, std::string_view canonical);
Sha256Value signing_key(std::string_view secret_key, const CredentialScope& scope);

// kSignatureDoesNotMatch with the string to sign; kAccessDenied when a header that must be signed was not.
Outcome<void> check_signature(const Request& request, const Authorization& claim, std::string_view payload_hash,
                              const Sha256Value& key);

}  // namespace stoa::s3
