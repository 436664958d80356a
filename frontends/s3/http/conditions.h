// Conditional requests: RFC 9110 13, as S3 applies it to reads, writes and copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

struct Conditions {
  std::optional<std::string_view> if_match{};
  std::optional<std::string_view> if_none_match{};
  std::optional<std::int64_t> if_modified_since{};  // seconds; a date that cannot be read is ignored
  std::optional<std::int64_t> if_unmodified_since{};
  bool any() const { return if_match || if_none_match || if_modified_since || if_unmodified_since; }
};

// `prefix`: "" for the request's own, "x-amz-copy-source-" for those on the source of a copy.
Conditions read_conditions(const Request& request, std::string_view prefix = "");

// `list` is "*" or a list of entity tags, weak or not, with or without quotes. `etag` has no quotes.
bool matches_etag(std::string_view list, std::string_view etag);

// For GET and HEAD, in the order of RFC 9110 13.2.2: kPreconditionFailed or kNotModified.
Outcome<void> check_read(const Conditions& conditions, std::string_view etag, Timestamp modified);
// For the source of a copy: everything that does not hold is kPreconditionFailed.
Outcome<void> check_copy_source(const Conditions& conditions, std::string_view etag, Timestamp modified);

}  // namespace stoa::s3
