#include "core/usage/owner_walk.h"

#include <utility>

namespace stoa::core {

void OwnerCountWish::make() {
  const std::lock_guard lock(mutex_);
  wanted_ = true;
  made_.notify_all();
}

bool OwnerCountWish::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(wanted_, false);
}

bool OwnerCountWish::wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return made_.wait(lock, stop, [this] { return wanted_; }) && !stop.stop_requested();
}

}  // namespace stoa::core
