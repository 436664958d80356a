// A unit in which tests of content count.
#pragma once

#include <cstdint>

namespace stoa::core::test {

constexpr std::uint64_t kM = 1u << 20;

}  // namespace stoa::core::test
