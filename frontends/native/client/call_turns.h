// The wait of one caller, in turns: until something has changed, or the caller is to be asked.
#pragma once

#include <algorithm>

#include "frontends/native/client/calls_in_flight.h"

namespace stoa::native {

class CallsInFlight::Turns {
 public:
  explicit Turns(const Patience& patience) : patience_(patience) {
    if (patience.interrupted) ask_at_ = Deadline::Clock::now() + kAskEvery;
  }

  // kTimeout: the caller's patience is over. The lock is let go while the caller is asked.
  Status check(std::unique_lock<std::mutex>& lock) {
    if (patience_.deadline.is_never() && !patience_.interrupted) return {};
    const auto now = Deadline::Clock::now();
    if (!patience_.deadline.is_never() && now >= patience_.deadline.at())
      return fail(Errc::kTimeout, "the server has not answered in time");
    if (now < ask_at_) return {};
    ask_at_ = now + kAskEvery;
    lock.unlock();
    const bool over = patience_.interrupted();
    lock.lock();
    if (over) return fail(Errc::kTimeout, "interrupted");
    return {};
  }
  Deadline::Clock::time_point until() const { return std::min(ask_at_, patience_.deadline.at()); }
  void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock) const {
    (void)Deadline(until()).wait(changed, lock);
  }

 private:
  static constexpr std::chrono::milliseconds kAskEvery{100};

  const Patience& patience_;
  Deadline::Clock::time_point ask_at_ = Deadline::Clock::time_point::max();
};

}  // namespace stoa::native
