// Work that one worker leaves for others, and the way to wake them. Calls that make contexts of RPCSEC_GSS are run one
// at a time: the mechanism takes one step at a time, and whoever floods us with tokens must not keep all workers
// waiting for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "frontends/nfs/rpc/connection.h"

namespace stoa::rpc {

struct Task {
  std::shared_ptr<Connection> connection;
  bool receive = false;  // take up the receive side again (it waited for memory); else run `record`, also one that
                         // waited for its flows
  Record record{};
  bool makes_context() const { return !receive && record.makes_context; }
};

// Thread-safe. Its size is bounded by the limits on calls in flight.
class TaskQueue {
 public:
  // `running_max`: tasks run at once, fewer than there are workers, so that short calls always find one.
  // `wake_fd`: an eventfd (semaphore) in the epoll that idle workers wait on.
  TaskQueue(int wake_fd, std::uint32_t running_max) : wake_fd_(wake_fd), running_max_(running_max) {}

  void push(Task task);
  // Whoever gets a task calls done() after it, and pops again before he sleeps.
  bool pop(Task& task);
  // Whether a worker may run a task that it has at hand; then it calls done() after it.
  bool claim();
  void done() { running_.fetch_sub(1); }
  // Of a task that makes a context.
  void context_done();
  // Drops what nobody will run any more.
  void clear();

  // Brackets a worker's sleep. False: there is work, do not sleep.
  bool begin_idle();
  void end_idle() { idle_.fetch_sub(1); }
  bool empty() const { return size_.load() == 0; }  // nothing that could be run now

 private:
  void count_locked();

  const int wake_fd_;
  const std::uint32_t running_max_;
  std::atomic<std::uint32_t> idle_{0};
  std::atomic<std::uint32_t> running_{0};
  std::atomic<std::uint32_t> size_{0};  // that may be run now; written with mutex_ held
  std::mutex mutex_;                    // guards what follows
  std::deque<Task> tasks_, contexts_;   // the second: those that make contexts
  bool context_runs_ = false;
};

}  // namespace stoa::rpc
