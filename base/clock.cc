#include "base/clock.h"

#include <ctime>

namespace stoa {
Timestamp wall_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Timestamp::from(now.tv_sec, static_cast<std::uint32_t>(now.tv_nsec));
}

std::chrono::steady_clock::time_point steady_tick() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::chrono::steady_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                               std::chrono::nanoseconds(now.tv_nsec));
}
}  // namespace stoa
