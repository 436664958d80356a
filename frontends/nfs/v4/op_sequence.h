// SEQUENCE (RFC 8881 18.46) and its effect on the whole COMPOUND: the slot, the limits, the replay cache.
#pragma once

#include <optional>

#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {

// A slot whose request waits to be run again: a retry of it is told to come later. Destroyed without that, the slot is
// as before the request.
class WaitingSlot {
 public:
  WaitingSlot() = default;
  // Of the session, one more waits.
  WaitingSlot(std::shared_ptr<Session> session, std::uint32_t slot) : session_(std::move(session)), slot_(slot) {}
  WaitingSlot(WaitingSlot&& other) noexcept : session_(std::move(other.session_)), slot_(other.slot_) {}
  ~WaitingSlot();
  WaitingSlot& operator=(const WaitingSlot&) = delete;
  explicit operator bool() const { return session_ != nullptr; }

 private:
  friend class SequenceGuard;
  std::shared_ptr<Session> session_;
  std::uint32_t slot_ = 0;
};

class SequenceGuard {
 public:
  // `reply_at`: where COMPOUND4res begins in c.out.
  SequenceGuard(Compound& c, std::uint32_t operations, std::size_t reply_at)
      : c_(c), operations_(operations), reply_at_(reply_at) {}
  ~SequenceGuard();
  SequenceGuard(const SequenceGuard&) = delete;
  SequenceGuard& operator=(const SequenceGuard&) = delete;

  // The COMPOUND waits; finish() does nothing then. Nothing: it must not, as its session needs the other slots, for
  // what somebody else may be waiting for. Without a slot in minor version 0.
  std::optional<WaitingSlot> wait();
  // The operation itself: takes the slot, or the one with which the COMPOUND has waited. When replayed() is true
  // afterwards, the reply is whole.
  Nfs4Status begin(WaitingSlot* waited);
  bool replayed() const { return replayed_; }
  // kRepTooBig, kRepTooBigToCache: a reply of this size does not suit the session.
  Nfs4Status check_size(std::size_t bytes) const;
  // All results are complete: caches them and releases the slot.
  void finish();

 private:
  Nfs4Status take_slot(Session& session, std::uint32_t number, std::uint32_t sequence);

  Compound& c_;
  const std::uint32_t operations_;
  const std::size_t reply_at_;
  std::shared_ptr<Session> session_;
  std::uint32_t slot_ = 0;
  bool cache_this_ = false;
  bool replayed_ = false;
};

}  // namespace stoa::nfs4
