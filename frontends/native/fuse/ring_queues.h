// FUSE over io_uring: the kernel's queue of each processor, and the threads that serve them.
//
// A request is one call of the system, which gives the last reply and takes the next request, and it is worked on near
// the processor that asks. FORGET, INTERRUPT, and what came before the rings were ready, still come over /dev/fuse.
//
// All entries of the queues are registered at the beginning, by one thread, the reserve. An entry that comes to it with
// a request gets a seat, a thread of its own, and stays with it: an entry belongs to the ring of its last command. The
// kernel takes the entry that was used last, so there are as many seats as there were requests at a time. Entries
// cannot be added when they are needed: the kernel gives one that is new the next request, not those that wait.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frontends/native/fuse/dispatcher.h"
#include "frontends/native/fuse/processors.h"
#include "frontends/native/fuse/ring_seat.h"

namespace stoa::native::fuse {

class RingQueues {
 public:
  // Takes what is needed, so that it cannot fail when the kernel was told. `fuse` outlives it. Errors: no io_uring.
  static Result<std::unique_ptr<RingQueues>> prepare(int fuse, const Processors& processors);
  ~RingQueues();
  RingQueues(const RingQueues&) = delete;
  RingQueues& operator=(const RingQueues&) = delete;

  // After the reply to INIT; returns when all entries are registered. When no thread is to be had, it renounces. The
  // dispatcher stays until wait() has returned; late replies after it are allowed until this object ends.
  void start(Dispatcher& dispatcher);
  // Instead of start(): the kernel goes on over /dev/fuse; else it holds all requests until each queue has an entry.
  void renounce();
  // The connection has ended: requests that wait for a lock are given up. Those that run are told by the dispatcher.
  void end();
  // Blocks until all threads have ended: after the connection has.
  void wait();

  // Whether a request has come this way.
  bool used() const { return used_.load(std::memory_order_relaxed); }

  // --- for seats
  Dispatcher& dispatcher() { return *dispatcher_; }
  bool ended() const { return ended_.load(); }
  // Before a request of the queue is answered later. False: too many are.
  bool park(std::uint16_t queue);
  void unpark(std::uint16_t queue) { queues_[queue].parked.fetch_sub(1); }

  // Requests of a queue at a time. More wait in the kernel, where a signal ends their wait.
  static constexpr std::uint32_t kEntries = 256;
  // Of a processor that does not run.
  static constexpr std::uint32_t kEntriesAtRest = 8;
  // So many requests of a queue may wait for a lock; the others are for those who set one free.
  static constexpr std::uint32_t kParkedMost = 192;

 private:
  struct Queue {
    std::atomic<std::uint32_t> parked{0};
    std::uint32_t parked_most = 0;
  };

  RingQueues(int fuse, std::uint32_t queues) : fuse_(fuse), queues_(queues) {}
  Status add_entries(std::uint16_t queue, std::uint32_t count, std::uint32_t parked_most);
  void reserve();
  Status register_entries();
  // False: there is no thread for it.
  bool seat(RingEntry& entry);

  const int fuse_;
  Dispatcher* dispatcher_ = nullptr;
  std::vector<Queue> queues_;  // by processor
  std::vector<std::unique_ptr<RingEntry>> entries_;
  std::unique_ptr<CommandRing> ring_;  // of the reserve
  std::atomic<bool> ended_{false}, used_{false}, registered_{false};
  std::thread reserve_;
  std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<RingSeat>> seats_;
};

}  // namespace stoa::native::fuse
