// Activity of one connection and its kind of client, for time-outs and the choice of a thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "frontends/wire/cost_class.h"

namespace stoa::wire {

// Written by the worker that holds the receive side, read by any.
struct Activity {
  std::atomic<std::int64_t> last_input_ns{0};
  std::atomic<std::int64_t> partial_since_ns{0};  // 0: no part of a record waits for its rest
  std::atomic<bool> holds_memory{false};          // for that record
};

// Whether requests of each cost class block. A guess from their recent past, so races between workers do not matter.
class SlowRequests {
 public:
  void note(CostClass cost_class, std::chrono::nanoseconds took) {
    One& one = of(cost_class);
    const std::uint32_t strikes = one.strikes.load(std::memory_order_relaxed);
    if (took <= kSlow) {
      if (strikes > 0) one.strikes.store(strikes - 1, std::memory_order_relaxed);
    } else if (strikes == 0) {
      one.strikes.store(kStrike, std::memory_order_relaxed);
    } else {
      one.left.store(kRequests, std::memory_order_relaxed);
    }
  }
  // True: the next one is expected to block.
  bool take(CostClass cost_class) {
    One& one = of(cost_class);
    const std::uint32_t left = one.left.load(std::memory_order_relaxed);
    if (left > 0) one.left.store(left - 1, std::memory_order_relaxed);
    return left > 0;
  }

 private:
  // A request that took longer than this has blocked, or its thread was pre-empted. When it happens again soon, the
  // next kRequests of its cost class on this connection go to other workers; then one is tried in place again.
  static constexpr std::chrono::microseconds kSlow{300};
  static constexpr std::uint32_t kRequests = 64;
  static constexpr std::uint32_t kStrike = 8;

  struct One {
    std::atomic<std::uint32_t> strikes{0};
    std::atomic<std::uint32_t> left{0};
  };
  One& of(CostClass cost_class) { return all_[static_cast<std::size_t>(cost_class)]; }
  std::array<One, kCostClasses> all_{};
};

}  // namespace stoa::wire
