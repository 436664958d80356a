// Clocks: wall-clock time as the file system stores it, and steady time for waits.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace stoa {

// Nanoseconds since 1970-01-01 UTC; negative before. Covers 1677 to 2262.
struct Timestamp {
  std::int64_t ns = 0;
  auto operator<=>(const Timestamp&) const = default;
  // Floor, so that nanoseconds() is always in [0, 1e9).
  std::int64_t seconds() const { return ns >= 0 ? ns / 1'000'000'000 : -((-ns + 999'999'999) / 1'000'000'000); }
  std::uint32_t nanoseconds() const { return static_cast<std::uint32_t>(ns - seconds() * 1'000'000'000); }
  static Timestamp from(std::int64_t seconds, std::uint32_t nanoseconds) {
    return {seconds * 1'000'000'000 + nanoseconds};
  }
};

// Now, at nanosecond resolution. Thread-safe, does not block.
Timestamp wall_now();

// The steady clock as of the last tick of the kernel (1 to 10 ms ago): a fraction of the cost of
// Clock::now().
std::chrono::steady_clock::time_point steady_tick();

}  // namespace stoa
