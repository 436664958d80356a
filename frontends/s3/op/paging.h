// The parameters common to all listings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontends/s3/error.h"
#include "frontends/s3/http/request.h"

namespace stoa::s3 {

// A number from 0 to 2^31-1; `fallback` when it is absent or empty. kInvalidArgument.
Outcome<std::uint32_t> read_number(std::string_view name, std::optional<std::string_view> text, std::uint32_t fallback);
// The most entries of a page: at most core::kListKeysMax, regardless of the request.
Outcome<std::uint32_t> read_count(std::string_view name, std::optional<std::string_view> text);
// encoding-type: "url" or nothing. kInvalidArgument.
Outcome<bool> read_url_encoding(const Request& request);

// Continuation tokens hide nothing, but their form differs from names, so that neither is taken for the other.
std::string make_continuation_token(std::string_view last);
// kInvalidArgument: no such token was ever given.
Outcome<std::string> read_continuation_token(std::string_view token);

}  // namespace stoa::s3
