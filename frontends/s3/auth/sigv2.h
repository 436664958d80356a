// AWS Signature Version 2 ("Signing and authenticating REST requests", Amazon S3 developer guide), which some clients
// still make presigned URLs with. It signs no content and, of the headers, Content-MD5, Content-Type, Date and x-amz-*
// alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

struct AuthorizationV2 {
  bool presigned = false;
  std::string access_key{};
  std::string signature{};   // base64
  std::string date{};        // as it is signed: Date; presigned: Expires; empty when x-amz-date replaces it
  std::int64_t seconds = 0;  // of the date; presigned: the expiry
};

// Errors: kInvalidArgument for a header that is not "AWS KEY:SIGNATURE"; kAccessDenied: a missing part, or no date.
Outcome<AuthorizationV2> parse_authorization_v2(const Request& request, bool presigned);

// kRequestTimeTooSkewed; kAccessDenied: a presigned request has expired.
Outcome<void> check_time(const AuthorizationV2& claim, std::int64_t now_seconds);

// `path`: of bucket and key, as sent.
std::string string_to_sign(const Request& request, const AuthorizationV2& claim, std::string_view path);

// kSignatureDoesNotMatch with the string to sign. `host_bucket`: the bucket named by the host; empty: it is in the
// path.
Outcome<void> check_signature(const Request& request, const AuthorizationV2& claim, std::string_view host_bucket,
                              std::string_view secret_key);

}  // namespace stoa::s3
