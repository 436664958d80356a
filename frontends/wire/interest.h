// The epoll interest of one connection.
//
// Exactly one worker holds the receive side of a connection, or epoll does. Neither does while the connection is held
// back (its output is not drained, or too many of its requests are in flight).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <sys/epoll.h>

namespace stoa::wire {

// Thread-safe.
class Interest {
 public:
  Interest(int epoll, std::uint64_t key, int fd) : epoll_(epoll), key_(key), fd_(fd) {}

  struct Ready {
    bool in = false;   // the caller now holds the receive side
    bool out = false;  // the socket takes bytes again
  };
  // Called by the worker that got `events`.
  Ready take(std::uint32_t events);
  // Gives the receive side back: to epoll, or to neither when `must_hold()` is true. False: held back.
  template <class MustHold>
  bool release(MustHold must_hold) {
    const std::lock_guard lock(mutex_);
    held_ = must_hold();
    if (held_) return false;
    want_in_ = true;
    rearm_locked();
    return true;
  }
  // Hands the receive side to epoll when it was held back and no longer needs to be.
  template <class MustHold>
  void resume_if_held(MustHold must_hold) {
    const std::lock_guard lock(mutex_);
    if (!held_ || must_hold()) return;
    held_ = false;
    want_in_ = true;
    rearm_locked();
  }
  void want_output();
  // By the holder of the receive side: bytes that the socket told of have been received and not been read (TLS). Until
  // it says otherwise, its side is given out again as soon as the socket takes bytes: no event tells of them.
  void note_unread(bool unread) { unread_.store(unread, std::memory_order_relaxed); }

 private:
  void rearm_locked();

  const int epoll_;
  const std::uint64_t key_;
  const int fd_;
  std::atomic<bool> unread_{false};
  std::mutex mutex_;  // guards the three below and the epoll registration
  bool want_in_ = true;
  bool want_out_ = false;
  bool held_ = false;
};

}  // namespace stoa::wire
