// The processors of this machine, as the kernel numbers them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stoa::native::fuse {

// A list of the kernel ("0-3,8"), in its order. Empty: it is none.
std::vector<std::uint32_t> parse_processors(std::string_view list);

struct Processors {
  std::uint32_t possible = 0;          // how many there may be; 0: unknown
  std::vector<std::uint32_t> running;  // those that run
};
// Reads /sys.
Processors processors();

}  // namespace stoa::native::fuse
