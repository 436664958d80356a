// Work that one worker leaves for others, and the way to wake them. Exclusive tasks run one at a time: a client that
// floods us with them must not occupy all workers with tasks that are serial anyway.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace stoa::wire {

// Thread-safe. Its size is bounded by the limits on requests in flight. Task has exclusive().
template <class Task>
class TaskQueue {
 public:
  // `running_max`: tasks run at once, fewer than there are workers, so that short requests always find one.
  // `wake_fd`: an eventfd (semaphore) in the epoll that idle workers wait on.
  TaskQueue(int wake_fd, std::uint32_t running_max) : wake_fd_(wake_fd), running_max_(running_max) {}

  void push(Task task) {
    {
      const std::lock_guard lock(mutex_);
      (task.exclusive() ? exclusive_ : tasks_).push_back(std::move(task));
      // Sequentially consistent with begin_idle(): either we see the sleeper, or it sees the task.
      count_locked();
    }
    if (idle_.load() == 0) return;  // A busy worker looks here before it sleeps.
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = write(wake_fd_, &one, sizeof one);
  }

  // A worker that gets a task calls done() or exclusive_done() after it, and pops again before it sleeps.
  bool pop(Task& task) {
    if (size_.load(std::memory_order_relaxed) == 0 || !claim()) return false;
    {
      const std::lock_guard lock(mutex_);
      const bool exclusive = !exclusive_.empty() && !exclusive_runs_;
      std::deque<Task>& from = exclusive ? exclusive_ : tasks_;
      if (!from.empty()) {
        task = std::move(from.front());
        from.pop_front();
        exclusive_runs_ = exclusive_runs_ || exclusive;
        count_locked();
        return true;
      }
    }
    running_.fetch_sub(1);
    return false;
  }

  // Whether a worker may run this task; then it calls done() after it.
  bool claim() {
    if (running_.fetch_add(1) < running_max_) return true;
    running_.fetch_sub(1);
    return false;
  }
  void done() { running_.fetch_sub(1); }
  void exclusive_done() {
    {
      const std::lock_guard lock(mutex_);
      exclusive_runs_ = false;
      count_locked();
    }
    done();
  }

  // Drops tasks that will not be run any more.
  void clear() {
    const std::lock_guard lock(mutex_);
    tasks_.clear();
    exclusive_.clear();
    count_locked();
  }

  // Brackets a worker's sleep. False: there is work, do not sleep.
  bool begin_idle() {
    idle_.fetch_add(1);
    if (size_.load() == 0 || running_.load() >= running_max_) return true;
    idle_.fetch_sub(1);
    return false;
  }
  void end_idle() { idle_.fetch_sub(1); }
  bool empty() const { return size_.load() == 0; }  // no task that could be run now

 private:
  void count_locked() {
    size_.store(static_cast<std::uint32_t>(tasks_.size() + (exclusive_.empty() || exclusive_runs_ ? 0 : 1)));
  }

  const int wake_fd_;
  const std::uint32_t running_max_;
  std::atomic<std::uint32_t> idle_{0};
  std::atomic<std::uint32_t> running_{0};
  std::atomic<std::uint32_t> size_{0};  // that may be run now; written with mutex_ held
  std::mutex mutex_;                    // guards the members below
  std::deque<Task> tasks_, exclusive_;
  bool exclusive_runs_ = false;
};

}  // namespace stoa::wire
