// The end of the journal, announced by the committer to readers. Costs the writer two relaxed loads while no reader
// waits for records.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include "base/assert.h"

namespace stoa::core {

// Thread-safe.
class JournalTail {
 public:
  explicit JournalTail(std::uint64_t newest) : written_(newest), durable_(newest) {}

  // The newest record in the store; and the newest that no crash takes back.
  std::uint64_t written() const { return written_.load(std::memory_order_acquire); }
  std::uint64_t durable() const { return durable_.load(std::memory_order_acquire); }

  void set_written(std::uint64_t newest) {
    STOA_ASSERT(newest >= written());
    if (written_.exchange(newest, std::memory_order_seq_cst) != newest) readers_.notify(mutex_);
  }
  void set_durable(std::uint64_t newest) {
    STOA_ASSERT(durable() <= newest && newest <= written());
    durable_.store(newest, std::memory_order_release);
  }

  // A queued record has no committer waiting for it, so a reader must write it. Only the first record since the last
  // take_announced() wakes readers.
  void announce() {
    if (!announced_.exchange(true, std::memory_order_seq_cst)) readers_.notify(mutex_);
  }
  // Clears the announcement: the caller then makes everything queued before durable.
  void take_announced() { announced_.exchange(false, std::memory_order_seq_cst); }
  bool announced() const { return announced_.load(std::memory_order_seq_cst); }

  // The number of wake-up calls for all waiters so far. Read it before looking for work, so that no call is lost.
  std::uint64_t calls() const { return calls_.load(std::memory_order_acquire); }
  void call() {
    calls_.fetch_add(1, std::memory_order_seq_cst);
    readers_.notify(mutex_);
    others_.notify(mutex_);
  }

  // Blocks until there is a record behind `after` (kNothing: records do not wake), in the store or announced; a call
  // after `calls`; the time; or the stop.
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  void wait(std::uint64_t after, std::uint64_t calls, std::chrono::steady_clock::time_point until,
            const std::stop_token& stop) {
    // Threads that wait for no record are not woken by one: the committer writes thousands of groups a second.
    Waiters& waiters = after == kNothing ? others_ : readers_;
    std::unique_lock lock(mutex_);
    waiters.count.fetch_add(1, std::memory_order_seq_cst);
    const auto arrived = [&] {
      return written_.load(std::memory_order_seq_cst) > after || (after != kNothing && announced()) ||
             calls_.load(std::memory_order_seq_cst) != calls;
    };
    if (until == std::chrono::steady_clock::time_point::max()) {
      waiters.woken.wait(lock, stop, arrived);
    } else {
      waiters.woken.wait_until(lock, stop, until, arrived);
    }
    waiters.count.fetch_sub(1, std::memory_order_relaxed);
  }
  // Blocks for that time or until the stop, so that records arriving together are read together.
  void gather(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    gathered_.wait_for(lock, stop, time, [] { return false; });
  }

 private:
  struct Waiters {
    std::atomic<int> count{0};
    std::condition_variable_any woken{};

    void notify(std::mutex& mutex) {
      if (count.load(std::memory_order_seq_cst) == 0) return;
      const std::lock_guard lock(mutex);
      woken.notify_all();
    }
  };

  std::atomic<std::uint64_t> written_;
  std::atomic<std::uint64_t> durable_;
  std::atomic<bool> announced_{false};
  std::atomic<std::uint64_t> calls_{0};
  std::mutex mutex_;  // of the conditions; their predicates are atomic
  Waiters readers_;   // of records
  Waiters others_;
  std::condition_variable_any gathered_;  // never notified
};

}  // namespace stoa::core
