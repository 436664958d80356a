#include "frontends/s3/http/range.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "frontends/s3/http/request.h"

namespace stoa::s3 {
namespace {

std::unexpected<Failure> not_satisfiable(std::string_view header, std::uint64_t size) {
  return std::unexpected<Failure>(
      Failure{.code = Code::kInvalidRange,
              .details = {{"RangeRequested", std::string(header)}, {"ActualObjectSize", std::to_string(size)}},
              .headers = {{"Content-Range", "bytes */" + std::to_string(size)}}});
}

// As parse_decimal, but a number that is too large is the largest: RFC 9110 14.1.2 wants no overflow, and no object is
// longer.
std::optional<std::uint64_t> parse_position(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return parse_decimal(text).value_or(UINT64_MAX);
}

}  // namespace

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Outcome<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  const std::string_view set = trim(header.substr(kUnit.size()));
  if (set.find(',') != std::string_view::npos) return std::nullopt;
  const std::size_t dash = set.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first = trim(set.substr(0, dash));
  const std::string_view last = trim(set.substr(dash + 1));

  if (first.empty()) {  // a suffix: the last N bytes
    const auto suffix = parse_position(last);
    if (!suffix) return std::nullopt;
    if (*suffix == 0 || size == 0) return not_satisfiable(header, size);
    const std::uint64_t length = std::min(*suffix, size);
    return ByteRange{size - length, length};
  }
  const auto from = parse_position(first);
  if (!from) return std::nullopt;
  std::uint64_t to = size == 0 ? 0 : size - 1;
  if (!last.empty()) {
    const auto given = parse_position(last);
    if (!given || *given < *from) return std::nullopt;  // RFC 9110 14.1.1: an invalid range is ignored
    to = std::min(to, *given);
  }
  if (*from >= size) return not_satisfiable(header, size);
  return ByteRange{*from, to - *from + 1};
}

Outcome<ByteRange> parse_copy_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const auto bad = [&] {
    return invalid_argument(
        "x-amz-copy-source-range", header,
        "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the "
        "zero-based offsets of the first and last bytes to copy");
  };
  if (!header.starts_with(kUnit)) return bad();
  const std::string_view set = header.substr(kUnit.size());
  const std::size_t dash = set.find('-');
  if (dash == std::string_view::npos) return bad();
  const auto first = parse_position(set.substr(0, dash));
  const auto last = parse_position(set.substr(dash + 1));
  if (!first || !last || *last < *first) return bad();
  if (*last >= size) return not_satisfiable(header, size);
  return ByteRange{*first, *last - *first + 1};
}

}  // namespace stoa::s3
