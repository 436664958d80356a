#include "frontends/nfs/rpc/task_queue.h"

#include <unistd.h>

namespace stoa::rpc {

void TaskQueue::push(Task task) {
  {
    const std::lock_guard lock(mutex_);
    (task.makes_context() ? contexts_ : tasks_).push_back(std::move(task));
    // Sequentially consistent with begin_idle(): either we see the sleeper, or it sees the task.
    count_locked();
  }
  if (idle_.load() == 0) return;  // A busy worker looks here before it sleeps.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_fd_, &one, sizeof one);
}

void TaskQueue::count_locked() {
  size_.store(static_cast<std::uint32_t>(tasks_.size() + (contexts_.empty() || context_runs_ ? 0 : 1)));
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
    const bool context = !contexts_.empty() && !context_runs_;
    std::deque<Task>& from = context ? contexts_ : tasks_;
    if (!from.empty()) {
      task = std::move(from.front());
      from.pop_front();
      context_runs_ = context_runs_ || context;
      count_locked();
      return true;
    }
  }
  running_.fetch_sub(1);
  return false;
}

void TaskQueue::context_done() {
  {
    const std::lock_guard lock(mutex_);
    context_runs_ = false;
    count_locked();
  }
  done();
}

void TaskQueue::clear() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
  contexts_.clear();
  count_locked();
}

bool TaskQueue::begin_idle() {
  idle_.fetch_add(1);
  if (size_.load() == 0 || running_.load() >= running_max_) return true;
  idle_.fetch_sub(1);
  return false;
}

}  // namespace stoa::rpc
