// A few threads that are started when there is work for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace stoa::native::data {

// Thread-safe. The threads block all signals: handlers of the program do not run there. They run on the processors of
// the thread that has made this, whichever thread brings the work: one of a mount may be bound to a single processor.
class Workers {
 public:
  Workers(std::size_t threads_most, std::size_t jobs_most);
  ~Workers() { stop(); }
  // Runs the job soon. False: there is no thread to be had, or too much to do; the caller does it.
  bool post(std::function<void()> job);
  // Runs what is posted, then ends the threads. Nothing is taken afterwards.
  void stop();

 private:
  void run();

  const std::size_t threads_most_, jobs_most_;
  const std::vector<unsigned long> processors_;  // a mask; empty: not known
  std::mutex mutex_;                             // guards all below
  std::condition_variable posted_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace stoa::native::data
