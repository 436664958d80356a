// The authentication mechanism of a request among those of S3.
#pragma once

#include <cstdint>

#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

enum class Mechanism : std::uint8_t {
  kNone,  // anonymous
  kVersion4Header,
  kVersion4Query,  // presigned
  kVersion2Header,
  kVersion2Query,  // presigned
};

// Reads only the fields that name a mechanism. Errors: kAccessDenied for an Authorization header without content;
// kInvalidArgument: two mechanisms, or one unknown to S3; kNotImplemented: Signature Version 4A.
Outcome<Mechanism> mechanism_of(const Request& request);

bool is_amz_header(std::string_view name);  // "x-amz-..."

// A presigned request may carry x-amz-* headers in its query, where SDKs put them. Makes them headers, except for
// those of the mechanism. Version 2 signs them as headers, so before its signature is checked; version 4 as a query,
// so behind that.
void take_headers_of_query(Request& request);

}  // namespace stoa::s3
