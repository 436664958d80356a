// A connection over /dev/fuse: worker threads that each read a request, run it and write the reply. Where the kernel
// offers io_uring, most requests come over ring_queues.h.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "frontends/native/fuse/dispatcher.h"
#include "frontends/native/fuse/notifier.h"
#include "frontends/native/fuse/owned_fd.h"
#include "frontends/native/fuse/ring_queues.h"

namespace stoa::native::fuse {

// A connection as one process hands it to the next: no request is under way but those that wait for a lock.
struct DeviceState {
  struct Wait {
    std::uint64_t unique = 0;
    Caller caller{};
    LockCall lock{};
    std::size_t descriptor = 0;  // the one that the kernel takes the reply from
  };
  static constexpr std::size_t kOverRing = ~std::size_t{0};  // a wait in an entry of the rings, instead of a descriptor
  Negotiated negotiated{};
  std::vector<Wait> waits{};
  bool over_rings = false;
  RingState rings{};
};

class Device {
 public:
  // `fuse` is a mounted /dev/fuse descriptor. Blocks for the kernel's INIT, which it sends on mount. kNotSupported: the
  // kernel is too old. kShutdown: it was unmounted. kBusy: no thread is to be had. `fs` outlives the device.
  static Result<std::unique_ptr<Device>> start(OwnedFd fuse, FileSystem& fs);
  // The connection of another process, paused. `descriptors`: those that state() has told there. kInvalid: a wait is
  // not of one of them, or as RingQueues::take_over(). kBusy: no thread is to be had, or something of this process lies
  // where the memory of the rings must be. Nothing is answered, and nothing told to the kernel, before resume().
  static Result<std::unique_ptr<Device>> take_over(std::vector<OwnedFd> descriptors, const DeviceState& state,
                                                   FileSystem& fs);
  // Blocks until the kernel has ended the connection: unmount the file system first. One that is paused is left as it
  // is, for another process.
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Blocks until the file system is unmounted or its connection aborted, and no request runs.
  void wait();
  Notifier& notifier() { return notifier_; }
  // Whether requests come over io_uring.
  bool over_ring() const { return rings_ && rings_->used(); }

  // --- for another process, which goes on with the connection
  // kNotSupported: a part of the rings was lost by an error.
  Status may_pause() const;
  // Requests stay in the kernel from now on, or in entries of the rings, until resume(). Returns when none is under
  // way: those that run end, those that wait for a lock keep waiting. `directory`: where it is mounted. kTimeout: one
  // takes longer than until then. kShutdown: it was unmounted. kBusy, kNotSupported: as RingFill. With these all has
  // gone on. May be called, by one thread that serves no request, when may_pause() says so.
  Status pause(const std::string& directory, std::chrono::steady_clock::time_point until);
  // Over rings, it blocks until the requests of the RingFill are answered.
  void resume();
  // While it is paused. `descriptors`: of the connection, of who waits, and of the memory of the rings; they stay this
  // object's.
  DeviceState state(std::vector<int>& descriptors);
  // Another process has gone on: wait() returns, and nothing is answered here any more. Over rings, the destructor
  // blocks until that process has answered, or has ended.
  void leave();

  // A worker is busy as long as its request blocks, so there are as many as requests that block, up to this. More
  // requests wait in the kernel, where a signal ends their wait.
  static constexpr std::size_t kWorkersMost = 128;
  static constexpr std::size_t kIdleMost = 8;  // an idle worker beyond these ends

 private:
  using Clock = std::chrono::steady_clock;
  // A clone of the descriptor. The kernel takes the reply to a request only from the clone that read it, so a seat
  // outlives its worker: a lock that is waited for is answered later.
  class Seat;

  Device(OwnedFd fuse, FileSystem& fs, const Negotiated& negotiated, std::unique_ptr<RingQueues> rings);
  // What pause() does, but for the end of a failure.
  Status pause_all(const std::string& directory, Clock::time_point until);
  Status pause_rings(const std::string& directory, Clock::time_point until);
  // With mutex_. False: the system has no more threads.
  bool add_worker();
  // Waits while the device is paused. False: another process goes on.
  bool may_read();
  void work(Seat& seat);
  // Before and after a request. False: there are idle workers enough.
  void became_busy();
  bool became_idle();
  void leave(Seat& seat);

  // Ends behind all descriptors of the connection: nobody else may be left who ends it.
  std::unique_ptr<RingFill> fill_;
  const OwnedFd fuse_;
  const Negotiated negotiated_;
  Notifier notifier_;
  std::vector<std::unique_ptr<Seat>> seats_;  // grows with mutex_; all of them outlive dispatcher_
  const std::unique_ptr<RingQueues> rings_;   // as above; empty: /dev/fuse alone
  std::unique_ptr<Dispatcher> dispatcher_;
  std::mutex mutex_;  // guards all below, and seats_
  std::condition_variable left_, resumed_;
  std::atomic<bool> paused_{false};  // changed with mutex_
  std::size_t parked_ = 0;           // workers that wait for the end of the pause
  bool handed_over_ = false;
  std::vector<Seat*> free_seats_;
  std::size_t workers_ = 0;
  std::size_t idle_ = 0;
  bool ends_ = false;
};

}  // namespace stoa::native::fuse
