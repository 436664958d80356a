#include "base/clock.h"

#include <ctime>

namespace stoa {
Timestamp wall_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Timestamp::from(now.tv_sec, static_cast<std::uint32_t>(now.tv_nsec));
}
}  // namespace stoa
