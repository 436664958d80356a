// The pace of background work: it pays a QoS class as requests do, and gives way to them even where nothing has a
// limit.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "qos/scheduler.h"

namespace stoa::qos {

// For one thread, which works in pieces and reports the cost of each; stop() may come from any other.
//
// If requests were served during a piece, they then get their share of the time: kWeightDefault parts against the
// weight of background work. That is at most kPauseMax after each piece, so that it never starves (ten pieces a second
// are left). The pause ends as soon as no request came for kLull. While there are no requests, background work runs at
// full speed.
class BackgroundThrottle {
 public:
  static constexpr std::int64_t kPauseMax = 100'000'000;
  static constexpr std::int64_t kLull = 10'000'000;
  static constexpr std::int64_t kPatience = 1'000'000'000;  // then a piece is granted, regardless of its limits

  // The present terms: the QoS classes to pay, the general before the particular, and the weight.
  struct Terms {
    std::vector<std::shared_ptr<QosClass>> path{};
    std::uint32_t weight = kWeightLowest;
  };
  struct PolicyContext {
    std::function<Terms()> terms;
    std::function<std::uint64_t()> requests;  // number of requests so far
    Clock clock = steady_ns;
    // Waits for at most this many nanoseconds of that clock; empty: the real one.
    std::function<void(std::int64_t)> nap{};
  };

  // `scheduler` must outlive it; its serving thread grants the waits (Scheduler::keep_serving).
  BackgroundThrottle(Scheduler& scheduler, PolicyContext context);
  ~BackgroundThrottle();
  BackgroundThrottle(const BackgroundThrottle&) = delete;

  // A piece of work is done: waits until the next one may begin. Returns at once when it is stopped.
  void spent(const Price& price);
  // Pays and goes on at once: for work that must not fall behind.
  void spent_unthrottled(const Price& price);
  // Waits until then, or until it is stopped.
  void rest_until(std::int64_t time);
  std::int64_t now() const { return around_.clock(); }

  // No waits from now on.
  void stop();
  bool stopped() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  void give_way(std::int64_t took, std::uint32_t weight);
  void pay(const Price& price, const Terms& terms, std::int64_t patience);
  void nap(std::int64_t ns);

  Scheduler& scheduler_;
  const PolicyContext around_;
  std::int64_t piece_began_;
  std::uint64_t seen_;  // requests, when the piece began
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // guards granted_
  std::condition_variable wake_;
  bool granted_ = false;
};

}  // namespace stoa::qos
