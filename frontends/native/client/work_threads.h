// Work of a client that no caller's thread is there for: now, or at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"

namespace stoa::native {

// Thread-safe.
class WorkThreads {
 public:
  using Clock = std::chrono::steady_clock;

  ~WorkThreads() { stop(); }
  // kBusy: the system gives no threads.
  Status start(std::size_t count);
  // `work` is run by one of the threads, not before `at`; after stop() at once, by this one.
  void add(Clock::time_point at, std::function<void()> work);
  // Waits for work that runs, and runs what is left, whenever it was for.
  void stop();

 private:
  void run();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::function<void()>> waiting_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stoa::native
