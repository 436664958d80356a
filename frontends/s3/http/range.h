// The Range header of GET and HEAD (RFC 9110 14.2), one range as S3 allows, and the range of UploadPartCopy.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "frontends/s3/error.h"

namespace stoa::s3 {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// Absent: a header that need not be obeyed (no bytes unit, several ranges, bad syntax): send everything, as RFC 9110
// 14.2 asks. kInvalidRange: it lies outside `size`.
Outcome<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size);

// x-amz-copy-source-range: "bytes=first-last", both required, wholly inside the source. kInvalidArgument,
// kInvalidRange.
Outcome<ByteRange> parse_copy_range(std::string_view header, std::uint64_t size);

// Digits only, no sign, no overflow.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

}  // namespace stoa::s3
