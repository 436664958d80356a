#include "frontends/native/client/trust_clock.h"

#include <algorithm>
#include <ctime>

namespace stoa::native {

std::int64_t boot_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void TrustClock::answered(std::size_t channel, std::int64_t sent_ns) {
  std::atomic<std::int64_t>& newest = answered_[channel];
  std::int64_t known = newest.load();
  while (known < sent_ns && !newest.compare_exchange_weak(known, sent_ns)) {
  }
}

bool TrustClock::ran_out(std::size_t channel, std::int64_t now_ns) const {
  const std::int64_t known = newest(channel);
  return known != 0 && known + trust_ns() <= now_ns;
}

bool TrustClock::settle(std::uint64_t doubt) {
  settled_ = doubt;
  return doubt_.load() == doubt;
}

std::int64_t TrustClock::until_ns() const {
  std::int64_t oldest = INT64_MAX;
  for (const auto& channel : answered_) oldest = std::min(oldest, channel.load());
  // Looked at last: whoever had a doubt has told of it before it counted the answer.
  if (oldest == 0 || doubt_.load() != settled_.load()) return 0;
  return oldest + trust_ns();
}

}  // namespace stoa::native
