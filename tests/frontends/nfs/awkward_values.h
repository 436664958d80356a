// Offsets, sizes and counts at which arithmetic goes wrong.
#pragma once

#include <array>
#include <cstdint>

namespace stoa::test {

inline constexpr std::uint64_t kTwo63 = std::uint64_t{1} << 63;
inline constexpr std::array<std::uint64_t, 21> kAwkward{
    0,           1,          3,           5,          4095,
    4096,        4097,       10'006,      10'007,     10'008,
    0x7fff'ffff, 1u << 31,   0xffff'ffff, 1ull << 32, (1ull << 32) + 1,
    1ull << 62,  kTwo63 - 2, kTwo63 - 1,  kTwo63,     ~0ull - 1,
    ~0ull};
inline constexpr std::array<std::uint32_t, 12> kAwkwardCounts{
    0, 1, 3, 4095, 4097, 65'535, 65'537, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, 1u << 31, ~0u};

}  // namespace stoa::test
