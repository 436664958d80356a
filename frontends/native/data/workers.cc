#include "frontends/native/data/workers.h"

#include <csignal>
#include <system_error>
#include <utility>

namespace stoa::native::data {

bool Workers::post(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || jobs_.size() >= jobs_most_) return false;
  if (idle_ <= jobs_.size() && threads_.size() < threads_most_) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      // Those that there are do it, one after the other.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  if (threads_.empty()) return false;
  jobs_.push_back(std::move(job));
  posted_.notify_one();
  return true;
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    posted_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (jobs_.empty()) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

void Workers::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    posted_.notify_all();
    threads = std::exchange(threads_, {});
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace stoa::native::data
