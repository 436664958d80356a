// Waiting for locks (F_SETLKW, flock): a queue of requests, asked again by one thread, so that no worker waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "frontends/native/fuse/file_system.h"
#include "frontends/native/fuse/reply_channel.h"

namespace stoa::native::fuse {

// Thread-safe. Each request that is added is answered once: with the lock, an error, or EINTR.
class LockWaits {
 public:
  explicit LockWaits(FileSystem& fs) : fs_(fs) {}
  // Answers what still waits with EINTR, and ends the thread.
  ~LockWaits();
  LockWaits(const LockWaits&) = delete;
  LockWaits& operator=(const LockWaits&) = delete;

  // `channel` outlives this object. False: too many wait (kWaitsMost), or there is no thread; nothing is answered.
  bool add(std::uint64_t unique, const Caller& caller, const LockCall& lock, ReplyChannel& channel);
  // Ends the wait of this request, if there is one: at once, or when the question that is under way for it ends.
  void interrupt(std::uint64_t unique);
  // A lock of the file may have become free: those who wait for one ask again at once.
  void retry_now(core::FileId file);
  std::size_t size() const;

  // --- for another process, which answers instead
  struct Waiting {
    std::uint64_t unique = 0;
    Caller caller{};
    LockCall lock{};
    ReplyChannel* channel = nullptr;
  };
  // Nothing is asked or answered from then on, until resume(). False: a question takes longer; they go on.
  bool pause(std::chrono::steady_clock::time_point until);
  void resume();
  // While it is paused: those who wait, in order of arrival.
  std::vector<Waiting> waiting();
  // Forgets them.
  void leave();

  static constexpr std::size_t kWaitsMost = 4096;

 private:
  using Clock = std::chrono::steady_clock;
  struct Wait {
    Wait(std::uint64_t number, const Caller& caller, const LockCall& wanted, ReplyChannel& to)
        : unique(number), call(caller), lock(wanted), channel(&to) {}
    const std::uint64_t unique;
    Call call;
    const LockCall lock;
    ReplyChannel* const channel;
    Clock::time_point next{};
    std::chrono::milliseconds pause{0};
  };

  void run();
  // Asks once, without the mutex. True: it was answered.
  bool ask(Wait& wait);
  std::shared_ptr<Wait> next_due(std::unique_lock<std::mutex>& lock);

  FileSystem& fs_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Wait>> waits_;  // in order of arrival
  const Wait* asking_ = nullptr;              // the one that is asked for just now, without the mutex
  bool ends_ = false, paused_ = false;
  std::thread thread_;  // started by the first wait
};

}  // namespace stoa::native::fuse
