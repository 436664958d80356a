// The requests of one connection in flight, and those that wait for room among them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace stoa::wire {

// Thread-safe.
template <class Held>
class InFlight {
 public:
  // `max`: requests handed to other workers.
  explicit InFlight(std::uint32_t max) : max_(max) {}

  void begin() { count_.fetch_add(1); }
  void end() { count_.fetch_sub(1); }
  std::uint32_t count() const { return count_.load(); }
  bool full() const { return count_.load(std::memory_order_relaxed) >= max_; }

  // Requests of a receive that filled the limits; they go on when there is room. Reading stops until there are
  // none, so that one receive bounds them.
  void park(Held held) {
    const std::lock_guard lock(mutex_);
    parked_.push_back(std::move(held));
    parked_count_.store(static_cast<std::uint32_t>(parked_.size()), std::memory_order_relaxed);
  }
  bool has_parked() const { return parked_count_.load(std::memory_order_relaxed) > 0; }
  // False: none.
  bool take_parked(Held& held) {
    const std::lock_guard lock(mutex_);
    if (parked_.empty()) return false;
    held = std::move(parked_.front());
    parked_.pop_front();
    parked_count_.store(static_cast<std::uint32_t>(parked_.size()), std::memory_order_relaxed);
    return true;
  }

 private:
  const std::uint32_t max_;
  std::atomic<std::uint32_t> count_{0};
  std::mutex mutex_;  // guards parked_
  std::deque<Held> parked_;
  std::atomic<std::uint32_t> parked_count_{0};
};

}  // namespace stoa::wire
