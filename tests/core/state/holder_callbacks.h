// The events of holders as functions.
#pragma once

#include <deque>
#include <functional>
#include <mutex>

#include "core/api/holder_events.h"

namespace stoa::core::test {

struct HolderCallbacks final : HolderEvents {
  std::function<void(const LeaseRecall&)> recalled = nullptr;
  std::function<void(const LockGranted&)> granted = nullptr;
  std::function<void(const LockTurn&)> turn = nullptr;

  void lease_recalled(const LeaseRecall& event) override {
    if (recalled) recalled(event);
  }
  void lock_granted(const LockGranted& event) override {
    if (granted) granted(event);
  }
  void lock_turn(const LockTurn& event) override {
    if (turn) turn(event);
  }
};

// Callbacks that live to the end of the process, so that no holder outlives them.
inline HolderCallbacks* callbacks() {
  static std::mutex mutex;
  static std::deque<HolderCallbacks> all;
  const std::lock_guard lock(mutex);
  return &all.emplace_back();
}
inline HolderEvents* on_recall(std::function<void(const LeaseRecall&)> recalled) {
  HolderCallbacks* const events = callbacks();
  events->recalled = std::move(recalled);
  return events;
}
inline HolderEvents* on_grant(std::function<void(const LockGranted&)> granted) {
  HolderCallbacks* const events = callbacks();
  events->granted = std::move(granted);
  return events;
}

}  // namespace stoa::core::test
