#include "frontends/native/data/workers.h"

#include <sched.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace stoa::native::data {
namespace {

std::vector<unsigned long> processors_of_this_thread() {
  constexpr std::size_t kWordsMost = 4096;
  for (std::vector<unsigned long> mask(16); mask.size() <= kWordsMost; mask.resize(mask.size() * 2)) {
    const auto bytes = mask.size() * sizeof(unsigned long);
    if (::sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(mask.data())) == 0) return mask;
    if (errno != EINVAL) break;  // else it is too short
  }
  return {};
}

}  // namespace

Workers::Workers(std::size_t threads_most, std::size_t jobs_most)
    : threads_most_(threads_most), jobs_most_(jobs_most), processors_(processors_of_this_thread()) {}

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
  if (!processors_.empty()) {
    const auto* const mask = reinterpret_cast<const cpu_set_t*>(processors_.data());
    (void)::sched_setaffinity(0, processors_.size() * sizeof(unsigned long), mask);  // it only matters for speed
  }
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
