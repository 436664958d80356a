// data_content4 (RFC 7862 15.10.2, 15.11.1), in READ_PLUS and SEEK.
#pragma once

#include <cstdint>

namespace stoa::nfs4 {

inline constexpr std::uint32_t kContentData = 0;
inline constexpr std::uint32_t kContentHole = 1;

}  // namespace stoa::nfs4
