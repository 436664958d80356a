// Sizes as people write them: "64MiB", "10GB", "4096".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace stoa::appliance {

// A whole number with an optional unit: B, K/KB/KiB, M, G, T, P. "KB" is 1000, "K" and "KiB" are 1024. kInvalid.
Result<std::uint64_t> parse_bytes(std::string_view text);

// The same, but the unit is required: for values whose bare number most users would misread. Errors: kInvalid, with
// `example` of the right form.
Result<std::uint64_t> parse_bytes_with_unit(std::string_view text, std::string_view example);

// The shortest exact form: "64MiB", "1000".
std::string exact_bytes(std::uint64_t bytes);

// About three digits, for people: "1.5 GiB".
std::string round_bytes(std::uint64_t bytes);

}  // namespace stoa::appliance
