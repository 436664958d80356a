#include "frontends/nfs/rpc/task_queue.h"

#include <unistd.h>

namespace stoa::rpc {

void TaskQueue::push(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  // Sequentially consistent with begin_idle(): either we see the sleeper, or it sees the task.
  size_.fetch_add(1);
  if (idle_.load() == 0) return;  // A busy worker looks here before it sleeps.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_fd_, &one, sizeof one);
}

bool TaskQueue::claim() {
  if (running_.fetch_add(1) < running_max_) return true;
  running_.fetch_sub(1);
  return false;
}

bool TaskQueue::pop(Task& task) {
  if (size_.load(std::memory_order_relaxed) == 0 || !claim()) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!tasks_.empty()) {
      task = std::move(tasks_.front());
      tasks_.pop_front();
      size_.fetch_sub(1);
      return true;
    }
  }
  running_.fetch_sub(1);
  return false;
}

void TaskQueue::clear() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
  size_.store(0);
}

bool TaskQueue::begin_idle() {
  idle_.fetch_add(1);
  if (size_.load() == 0 || running_.load() >= running_max_) return true;
  idle_.fetch_sub(1);
  return false;
}

}  // namespace stoa::rpc
