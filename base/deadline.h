// A point in time by which waiting ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace stoa {

// Asking whether it has passed costs a look at a coarse clock: it may be noticed some milliseconds late.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  constexpr Deadline() = default;  // never
  constexpr explicit Deadline(Clock::time_point at) : at_(at) {}
  static Deadline in(Clock::duration time) { return Deadline(Clock::now() + time); }

  bool is_never() const { return at_ == Clock::time_point::max(); }
  bool passed() const { return !is_never() && steady_tick() >= at_; }
  Clock::time_point at() const { return at_; }

  // For a condition that the caller checks again after each wait: false when it is too late to go on waiting.
  bool wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock) const {
    if (is_never()) {
      changed.wait(lock);
      return true;
    }
    return changed.wait_until(lock, at_) == std::cv_status::no_timeout;
  }

 private:
  Clock::time_point at_ = Clock::time_point::max();
};

}  // namespace stoa
