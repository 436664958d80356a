// Passes the events of a client's leases to the layer that has them: it is made after the client, and ends before it.
#pragma once

#include <mutex>

#include "frontends/native/client/lease_events.h"

namespace stoa::native {

// Thread-safe. Without a receiver nothing is passed: nobody has asked for leases.
class LeaseRelay : public LeaseEvents {
 public:
  // Returns when no call to the former receiver is under way.
  void set(LeaseEvents* receiver) {
    const std::lock_guard lock(mutex_);
    receiver_ = receiver;
  }
  void lease_recalled(const LeaseRecalled& recall) override {
    const std::lock_guard lock(mutex_);
    if (receiver_ != nullptr) receiver_->lease_recalled(recall);
  }
  void lease_lost(U64 lease) override {
    const std::lock_guard lock(mutex_);
    if (receiver_ != nullptr) receiver_->lease_lost(lease);
  }

 private:
  std::mutex mutex_;  // guards receiver_
  LeaseEvents* receiver_ = nullptr;
};

}  // namespace stoa::native
