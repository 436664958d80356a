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
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "frontends/native/fuse/dispatcher.h"
#include "frontends/native/fuse/processors.h"
#include "frontends/native/fuse/ring_fill.h"
#include "frontends/native/fuse/ring_seat.h"

namespace stoa::native::fuse {

// The queues as one process hands them to the next: all entries that have a request, which nobody answers meanwhile.
struct RingState {
  struct Memory {
    std::uint64_t address = 0;
    std::uint32_t slots = 0;
  };
  struct Entry {
    std::uint16_t queue = 0;
    std::uint32_t memory = 0;  // the number of one of these
    std::uint32_t slot = 0;
    bool fills = false;  // its request is one of a RingFill, and any answer will do
  };
  std::vector<Memory> memories{};
  std::vector<Entry> entries{};
};

class RingQueues {
 public:
  // Takes what is needed, so that it cannot fail when the kernel was told. `fuse` outlives it. Errors: no io_uring.
  static Result<std::unique_ptr<RingQueues>> prepare(int fuse, const Processors& processors);
  // Those of another process. `memories`: the descriptors that state() has told there. kInvalid: the state contradicts
  // itself. kBusy: something of this process lies where the memory must be. Others as above.
  static Result<std::unique_ptr<RingQueues>> take_over(int fuse, const RingState& state, std::vector<OwnedFd> memories,
                                                       const Processors& processors);
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

  // Whether start() has not renounced.
  bool serve() const { return reserve_.joinable(); }
  // Whether a request has come this way.
  bool used() const { return used_.load(std::memory_order_relaxed); }

  // --- for another process, which goes on with the queues
  // Whether they may be paused. kNotSupported: an entry was lost by an error.
  Status may_pause() const;
  // After LockWaits::pause(). Holds the requests that come from now on, until resume(), and fills each queue whose
  // processor runs: returns when all its entries have requests, and none is worked on. An error leaves it as it is so
  // far. kTimeout: a request does not end. kNotSupported: the fill does not come here, or as RingFill::add().
  Status pause(RingFill& fill, const Processors& processors, std::chrono::steady_clock::time_point until);
  void resume();
  // After resume(), when the RingFill has ended.
  void end_of_fill() { filled_.store(false); }
  // While it is paused. `memories`: descriptors, which stay this object's.
  RingState state(std::vector<int>& memories) const;
  // Another process has gone on: nothing is answered here any more.
  void leave();
  const std::string& name_of_fill() const { return name_of_fill_; }
  // While it is paused: whether the request waits for a lock in an entry.
  bool has_waiting(std::uint64_t unique) const;

  // --- behind take_over(), in this order; all is paused
  // The channel for the reply to a request that waits for a lock. kInvalid: no entry has it. Others as start_paused().
  Result<ReplyChannel*> channel_of(std::uint64_t unique);
  // Starts all threads. Errors: no thread or io_uring is to be had.
  Status start_paused(Dispatcher& dispatcher);

  // --- for seats
  Dispatcher& dispatcher() { return *dispatcher_; }
  bool ended() const { return ended_.load(); }
  enum class Arrived { kRequest, kFill, kOfAnother };
  // What to do with the request that has come into the entry. Blocks while the queues are paused.
  Arrived arrived(RingEntry& entry);
  // Before a request of the queue is answered later. False: too many are.
  bool park(std::uint16_t queue);
  void unpark(std::uint16_t queue) { queues_[queue].parked.fetch_sub(1); }
  // An entry is of no use any more, by an error that was told.
  void lost_an_entry() { whole_.store(false); }

  // Requests of a queue at a time. More wait in the kernel, where a signal ends their wait.
  static constexpr std::uint32_t kEntries = 256;
  // Of a processor that does not run.
  static constexpr std::uint32_t kEntriesAtRest = 8;

 private:
  struct Queue {
    std::atomic<std::uint32_t> parked{0};
    std::uint32_t entries = 0;
    // So many requests of a queue may wait for a lock; the others are for those who set one free.
    std::uint32_t parked_most() const { return entries - entries / 4; }
  };

  RingQueues(int fuse, std::uint32_t queues) : fuse_(fuse), queues_(queues) {}
  Status open();
  // New entries, so many for each queue.
  Status add_entries(const std::vector<std::uint32_t>& counts);
  Status take_entries(const RingState& state);
  Status start_reserve();
  void reserve();
  Status register_entries();
  // One completion of the reserve's ring. False: the ring has failed.
  bool take_completion(std::size_t& left);
  // Requests that have come to the reserve: while the queues are paused, and else.
  void tell_held();
  void serve_held(std::size_t& left);
  // False: there is no thread for it.
  bool seat(RingEntry& entry);
  Result<std::unique_ptr<RingSeat>> make_seat(RingEntry& entry);
  void answer_from_reserve(std::size_t number, int error);
  bool is_fill(const RingEntry& entry) const { return filled_ && entry.asks_for_attribute(name_of_fill_); }
  bool is_held() const { return paused_ && !left_ && !ended_; }
  // Adds what the queues lack. True: they lack nothing, and no request is worked on.
  Result<bool> fill_up(RingFill& fill, const Processors& processors, std::vector<std::uint32_t>& added);

  const int fuse_;
  Dispatcher* dispatcher_ = nullptr;
  std::string name_of_fill_;
  std::vector<Queue> queues_;  // by processor
  std::vector<std::unique_ptr<RingMemory>> memories_;
  std::vector<std::unique_ptr<RingEntry>> entries_;
  std::unique_ptr<CommandRing> ring_;  // of the reserve
  OwnedFd wake_;                       // it looks up
  std::vector<std::size_t> fresh_;     // entries that are not registered yet
  std::vector<std::size_t> held_;      // of the reserve, with requests that nobody works on yet
  std::atomic<bool> ended_{false}, used_{false}, registered_{false}, whole_{true};
  std::atomic<bool> paused_{false}, left_{false};  // changed with hold_mutex_
  std::atomic<bool> filled_{false};                // there may be requests of a RingFill
  std::mutex hold_mutex_;
  std::condition_variable resumed_;
  std::thread reserve_;
  mutable std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<RingSeat>> seats_;
};

}  // namespace stoa::native::fuse
