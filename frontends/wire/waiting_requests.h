// Requests that met the recall of a lease, and wait until it is answered; no thread waits with them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/metrics.h"
#include "core/api/state.h"
#include "frontends/wire/limits.h"

namespace stoa::wire {

// Thread-safe. The state table may call back for longer than this lives: nothing happens then.
class WaitingRequests {
 public:
  using Clock = std::chrono::steady_clock;
  struct Request {
    const void* owner = nullptr;  // its connection
    std::uint64_t bytes = 0;      // of memory that it keeps
    Clock::time_point until{};
    // Gives it to a worker, once at most: called with a lock held, so it must not block. `over`: it is to be answered
    // now, whatever is in the way. Destroyed without a call when the request is cancelled.
    std::function<void(bool over)> resume{};
  };
  enum class Outcome : std::uint8_t {
    kWaits,
    kClear,  // nothing is in its way any more: run it again
    kFull,   // a limit is reached, or the server ends: answer it
  };

  // `state`: null: no request ever waits. Must outlive this, as must `refused`, which counts the requests that found no
  // room.
  WaitingRequests(core::StateTable* state, const ServerLimits& limits, Counter& refused);
  ~WaitingRequests();
  WaitingRequests(const WaitingRequests&) = delete;

  bool takes_any() const { return state_ != nullptr; }
  // Resumed when the recalls of the file are answered, when they lapse, or at `until`: the last two say `over`. The
  // request is taken with kWaits only.
  Outcome park(core::FileId file, Request& request);
  // Resumes all of one connection; they are over.
  void finish(const void* owner);
  // Resumes all, and takes no more.
  void finish_all();
  // Drops those of one connection.
  void cancel(const void* owner);
  // Resumes those whose time is over.
  void expire(Clock::time_point now);
  // When the next one's time is over; the end of time: none waits.
  Clock::time_point next_expiry() const;
  // Drops all. When it returns, none is being resumed, and none will be.
  void close();

  std::uint64_t count() const;
  std::uint64_t bytes() const;

 private:
  struct Table;
  template <class Chosen>
  void end(bool resume, Chosen chosen);

  core::StateTable* const state_;
  Counter& refused_;
  const std::shared_ptr<Table> table_;
};

}  // namespace stoa::wire
