// Work that comes again and again, of all volumes of the process, on a few threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace stoa::core {

// Thread-safe. One kind of work is never run twice at a time.
class Rounds {
 public:
  enum class Id : std::uint64_t {};

  // Threads are started as work is added, up to `threads_max`: work that hangs delays others only when all do.
  explicit Rounds(std::size_t threads_max) : threads_max_(threads_max) {}
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // Runs `work` each time that `period` has passed since it ended, the first time after one period.
  Id add(std::chrono::steady_clock::duration period, std::function<void()> work);
  // Runs it as soon as a thread is free; once more, if it runs now.
  void call(Id id);
  // It runs no more; waits for the end of a round that runs. Not within one.
  void remove(Id id);

 private:
  using Clock = std::chrono::steady_clock;
  struct Work {
    Clock::duration period;
    Clock::time_point due;
    bool running = false;
    std::function<void()> run;
  };
  using Works = std::map<Id, Work>;

  void serve();
  // The first due work among the idle ones; end: none.
  Works::iterator next();

  const std::size_t threads_max_;
  std::mutex mutex_;               // guards the members below
  std::condition_variable wake_;   // work came, or is due earlier, or it stops
  std::condition_variable ended_;  // a round ended
  Works works_;
  std::uint64_t last_id_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stoa::core
