// A thread of FUSE over io_uring, with an io_uring of its own and one entry.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "frontends/native/fuse/command_ring.h"
#include "frontends/native/fuse/reply_channel.h"
#include "frontends/native/fuse/ring_entry.h"

namespace stoa::native::fuse {

class RingQueues;

// One request at a time. A request that blocks keeps the thread, and so its entry: the kernel gives the next one to
// another entry. Outlives the dispatcher: a lock that is waited for may be answered by another thread.
class RingSeat : public ReplyChannel {
 public:
  // `entry` outlives it. Errors: no io_uring, no memory.
  static Result<std::unique_ptr<RingSeat>> make(int fuse, RingEntry& entry, RingQueues& queues);

  // Begins with the request that is in the entry. False: the system starts no more threads.
  bool start();
  // Before start(): the request waits for a lock already, and only its reply is left. False: too many wait.
  bool wait_first();
  void join();
  // A reply that is waited for does not come any more.
  void end();
  const RingEntry& entry() const { return entry_; }
  void reply(std::uint64_t unique, int error, std::span<const std::byte> body) override;
  bool may_reply_later() override;
  void deliver() override;

 private:
  enum class State : int { kFree, kAsked, kAnswered, kEnded };

  RingSeat(int fuse, RingEntry& entry, RingQueues& queues) : fuse_(fuse), entry_(entry), queues_(queues) {}
  void stay_at_processor() const;
  void run();
  // Answers the request that is in the entry. False: the connection has ended, or another process answers.
  bool serve();
  bool take_reply();
  bool wait_for_reply();
  void push_commit();
  Result<CommandRing::Completion> next();

  const int fuse_;
  RingEntry& entry_;
  RingQueues& queues_;
  std::unique_ptr<CommandRing> ring_;
  bool committed_ = false;  // the reply is the kernel's, and the memory with it
  bool parked_ = false;     // the reply comes later; counted in queues_
  std::atomic<State> state_{State::kFree};
  std::thread thread_;
};

}  // namespace stoa::native::fuse
