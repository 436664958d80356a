#include "frontends/s3/op/paging.h"

#include <algorithm>

#include "core/api/requests.h"
#include "frontends/s3/http/range.h"

namespace stoa::s3 {

Outcome<std::uint32_t> read_number(std::string_view name, std::optional<std::string_view> text, std::uint32_t fallback) {
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

}  // namespace stoa::s3
