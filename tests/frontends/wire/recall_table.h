// A state table that knows recalls only: under way as long as a test says.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>

#include "tests/frontends/nfs/v4/fake_state_table.h"

namespace stoa::test {

// Thread-safe.
class RecallTable final : public FakeStateTable {
 public:
  using Clock = std::chrono::steady_clock;
  Result<std::optional<core::RecallWait>> when_clear(core::FileId file, std::function<void()> clear) override {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      if (full) return fail(Errc::kBusy);
      if (!under_way) return std::nullopt;
      number = ++last_;
      waiting_.emplace(number, clear);
      changed_.notify_all();
    }
    if (answered_meanwhile) answer();
    return core::RecallWait{file, number, lapses};
  }
  void stop_waiting(const core::RecallWait& wait) override {
    const std::lock_guard lock(mutex_);
    ++stopped;
    waiting_.erase(wait.number);
    changed_.notify_all();
  }
  // All that wait are called, as by a holder that gives its lease back.
  void answer() {
    std::map<std::uint64_t, std::function<void()>> clear;
    {
      const std::lock_guard lock(mutex_);
      clear.swap(waiting_);
    }
    for (const auto& [number, call] : clear) call();
  }
  // The oldest callback: the answer may come just while the wait is given up.
  std::function<void()> taken() const {
    const std::lock_guard lock(mutex_);
    return waiting_.begin()->second;
  }
  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }
  void wait_for_waiting(std::size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() >= n; });
  }

  // The table is told a moment after the request has gone on.
  void wait_until_none_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.empty(); });
  }

  std::atomic<bool> under_way = true;
  std::atomic<bool> full = false;
  std::atomic<bool> answered_meanwhile = false;
  std::atomic<int> stopped = 0;
  Clock::time_point lapses = Clock::time_point::max();

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::function<void()>> waiting_;
};

}  // namespace stoa::test
