// The parameters that all listings have.
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
// How many entries a page may have: at most core::kListKeysMax, whatever is asked for.
Outcome<std::uint32_t> read_count(std::string_view name, std::optional<std::string_view> text);
// encoding-type: "url" or nothing. kInvalidArgument.
Outcome<bool> read_url_encoding(const Request& request);

// Continuation tokens hide nothing, but are made so that nobody takes them for names, nor anything else for one of
// them.
std::string make_continuation_token(std::string_view last);
// kInvalidArgument: no such token was ever given.
Outcome<std::string> read_continuation_token(std::string_view token);

}  // namespace stoa::s3
