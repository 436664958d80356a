// Limits of the difference between the signer's clock and ours.
#pragma once

#include <cstdint>
#include <string_view>

#include "frontends/s3/error.h"

namespace stoa::s3 {

inline constexpr std::int64_t kClockSkewSecondsMax = 900;

// kRequestTimeTooSkewed. `as_sent`: the request's time for the answer.
Outcome<void> check_clock_skew(std::string_view as_sent, std::int64_t seconds, std::int64_t now_seconds);

}  // namespace stoa::s3
