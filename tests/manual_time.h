// A clock that stands still until a test moves it.
#pragma once

#include <atomic>

#include "base/time_source.h"

namespace stoa::test {

class ManualTime final : public TimeSource {
 public:
  // Of both: nanoseconds since 1970 and since the steady clock began.
  Timestamp wall() const override { return {now_.load()}; }
  std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(now_.load()));
  }
  void set(Timestamp now) { now_ = now.ns; }
  void pass(std::chrono::nanoseconds time) { now_ += time.count(); }

 private:
  std::atomic<std::int64_t> now_{1'700'000'000'000'000'000};
};

}  // namespace stoa::test
