#include "frontends/native/client/work_threads.h"

#include <utility>

#include "frontends/native/client/quiet_thread.h"

namespace stoa::native {

Status WorkThreads::start(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::thread thread;
    STOA_CHECK_OK(start_quiet_thread(thread, [this] { run(); }));
    threads_.push_back(std::move(thread));
  }
  return {};
}

void WorkThreads::add(Clock::time_point at, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) waiting_.emplace(at, std::exchange(work, {}));
  }
  if (work) {
    work();
  } else {
    changed_.notify_one();
  }
}

void WorkThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  threads_.clear();
  std::unique_lock lock(mutex_);
  for (const auto& [at, work] : std::exchange(waiting_, {})) {
    lock.unlock();
    work();
    lock.lock();
  }
}

void WorkThreads::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
    } else if (const auto at = waiting_.begin()->first; at > Clock::now()) {
      changed_.wait_until(lock, at);
    } else {
      const std::function<void()> work = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      lock.unlock();
      work();
      lock.lock();
    }
  }
}

}  // namespace stoa::native
