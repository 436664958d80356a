// The gate to RocksDB's log. After an error a log must be left alone until RocksDB has recovered. Otherwise it ends
// the process: WritableFileWriter asserts that a failed file is not written again, and Debian builds it with
// assertions.
#pragma once

#include <atomic>
#include <mutex>

namespace stoa::kv {

class LogGate {
 public:
  enum class State {
    kSound,
    kNoRoom,
    kBroken
  };  // kNoRoom: until recovered(); kBroken: until the database is opened again

  State state() const { return state_.load(std::memory_order_acquire); }
  bool sound() const { return state() == State::kSound; }
  // Runs `touch` unless the log is not sound, one at a time. It returns how it failed, or kSound.
  template <class Touch>
  State run(Touch touch) {
    const std::lock_guard lock(mutex_);
    if (sound()) failed(touch());
    return state();
  }
  // Only for the worse: another thread may have failed meanwhile.
  void failed(State how) {
    State known = state();
    while (known < how && !state_.compare_exchange_weak(known, how, std::memory_order_acq_rel)) {
    }
  }
  void recovered() {
    State known = State::kNoRoom;
    state_.compare_exchange_strong(known, State::kSound, std::memory_order_acq_rel);
  }

 private:
  std::mutex mutex_;
  std::atomic<State> state_{State::kSound};
};

}  // namespace stoa::kv
