#include "frontends/native/fuse/in_flight.h"

#include <algorithm>

namespace stoa::native::fuse {

void InFlight::begin(std::uint64_t unique, Call& call) {
  const std::lock_guard lock(mutex_);
  calls_[unique] = &call;
  if (unmounted_) call.unmount();
  if (any_early_ && std::find(early_.begin(), early_.end(), unique) != early_.end()) call.interrupt();
}

void InFlight::end(std::uint64_t unique) {
  const std::lock_guard lock(mutex_);
  calls_.erase(unique);
}

void InFlight::interrupt(std::uint64_t unique) {
  const std::lock_guard lock(mutex_);
  if (const auto found = calls_.find(unique); found != calls_.end()) {
    found->second->interrupt();
    return;
  }
  early_[next_early_] = unique;
  next_early_ = (next_early_ + 1) % kEarlyMost;
  any_early_ = true;
}

void InFlight::unmount() {
  const std::lock_guard lock(mutex_);
  unmounted_ = true;
  for (const auto& [unique, call] : calls_) call->unmount();
}

}  // namespace stoa::native::fuse
