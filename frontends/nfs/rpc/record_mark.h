// Record marking on TCP (RFC 5531 section 11): each fragment begins with its length and whether it is the last one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stoa::rpc {

inline constexpr std::size_t kMarkBytes = 4;
inline constexpr std::uint32_t kLastFragment = 0x8000'0000;

}  // namespace stoa::rpc
