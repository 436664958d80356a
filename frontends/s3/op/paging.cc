#include "frontends/s3/op/paging.h"

#include <algorithm>
#include <span>

#include "base/crc32c.h"
#include "core/api/requests.h"
#include "frontends/s3/checksum/digest.h"
#include "frontends/s3/http/range.h"

namespace stoa::s3 {
namespace {

constexpr std::size_t kTokenSumBytes = 4;

std::string token_sum(std::string_view key) {
  const std::uint32_t crc = crc32c(std::as_bytes(std::span(key)));
  std::string sum;
  for (int shift = 24; shift >= 0; shift -= 8) sum.push_back(static_cast<char>(crc >> shift));
  return sum;
}

}  // namespace

Outcome<std::uint32_t> read_number(std::string_view name, std::optional<std::string_view> text,
                                   std::uint32_t fallback) {
  if (!text || text->empty()) return fallback;
  const auto value = parse_decimal(*text);
  if (value && *value <= INT32_MAX) return static_cast<std::uint32_t>(*value);
  const std::string what(name);
  if (text->starts_with('-') && parse_decimal(text->substr(1)))
    return invalid_argument(name, *text, "Argument " + what + " must be an integer between 0 and 2147483647");
  return invalid_argument(name, *text, "Provided " + what + " not an integer or within integer range");
}

Outcome<std::uint32_t> read_count(std::string_view name, std::optional<std::string_view> text) {
  STOA_TRY(value, read_number(name, text, core::kListKeysMax));
  return std::min(value, core::kListKeysMax);
}

Outcome<bool> read_url_encoding(const Request& request) {
  const auto encoding = request.query("encoding-type");
  if (!encoding || encoding->empty()) return false;
  if (!equal_names(*encoding, "url"))
    return invalid_argument("encoding-type", *encoding, "Invalid Encoding Method specified in Request");
  return true;
}

std::string make_continuation_token(std::string_view key) {
  const std::string text = token_sum(key).append(key);
  return to_base64(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Outcome<std::string> read_continuation_token(std::string_view token) {
  const auto text = from_base64(token);
  if (text && text->size() > kTokenSumBytes) {
    std::string key = text->substr(kTokenSumBytes);
    if (text->starts_with(token_sum(key))) return key;
  }
  return invalid_argument("continuation-token", token, "The continuation token provided is incorrect");
}

}  // namespace stoa::s3
