#include "frontends/native/server/login_throttle.h"

#include <algorithm>

namespace stoa::native {

std::chrono::milliseconds LoginThrottle::wait(const Address& host, Time now) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(host);
  if (found == known_.end() || found->second.until <= now) return {};
  return std::chrono::ceil<std::chrono::milliseconds>(found->second.until - now);
}

void LoginThrottle::failed(const Address& host, Time now) {
  const std::lock_guard lock(mutex_);
  if (!known_.contains(host) && known_.size() >= kAddressesMax) {
    std::erase_if(known_, [&](const auto& entry) { return now - entry.second.last > kForgotten; });
    if (known_.size() >= kAddressesMax) known_.erase(known_.begin());
  }
  Known& known = known_[host];
  if (now - known.last > kForgotten) known.failures = 0;
  known.last = now;
  if (++known.failures <= kFreeFailures) return;
  const std::uint32_t doublings = std::min(known.failures - kFreeFailures - 1, 6u);
  known.until = now + std::min(kDelayMax, kDelayFirst * (1 << doublings));
}

void LoginThrottle::succeeded(const Address& host) {
  const std::lock_guard lock(mutex_);
  known_.erase(host);
}

}  // namespace stoa::native
