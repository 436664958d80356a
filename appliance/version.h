// The version of this build.
#pragma once

#include <string_view>

namespace stoa {
inline constexpr std::string_view kVersionText = STOA_VERSION;
}  // namespace stoa
