// The sleep of one thread, ended by others. Not a condition variable: after a wait glibc takes the mutex as one that
// others wait for, so that letting it go costs a system call each time.
#pragma once

#include <semaphore.h>

#include <cerrno>
#include <chrono>

namespace stoa::native {

class WakeUp {
 public:
  using Clock = std::chrono::steady_clock;

  WakeUp() { ::sem_init(&given_, 0, 0); }  // fails for a value that is too large only
  ~WakeUp() { ::sem_destroy(&given_); }
  WakeUp(const WakeUp&) = delete;

  // Ends one sleep: the present one, or the next.
  void give() { ::sem_post(&given_); }
  // Returns when it is given, or at this time; max(): only when it is given.
  void sleep(Clock::time_point until) {
    const auto since = until.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    const timespec at{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(since - seconds).count()};
    const auto wait = [&] {
      return until == Clock::time_point::max() ? ::sem_wait(&given_) : ::sem_clockwait(&given_, CLOCK_MONOTONIC, &at);
    };
    while (wait() != 0 && errno == EINTR) {
    }
  }

 private:
  sem_t given_;
};

}  // namespace stoa::native
