// SEQUENCE (RFC 8881 18.46) and its effect on the whole COMPOUND: the slot, the limits, the replay cache.
#pragma once

#include "frontends/nfs/v4/client.h"

namespace stoa::nfs4 {

class SequenceGuard {
 public:
  // `reply_at`: where COMPOUND4res begins in c.out.
  SequenceGuard(Compound& c, std::uint32_t operations, std::size_t reply_at)
      : c_(c), operations_(operations), reply_at_(reply_at) {}
  ~SequenceGuard();
  SequenceGuard(const SequenceGuard&) = delete;
  SequenceGuard& operator=(const SequenceGuard&) = delete;

  // The operation itself: takes the slot. When replayed() is true afterwards, the reply is whole.
  Nfs4Status begin();
  bool replayed() const { return replayed_; }
  // kRepTooBig, kRepTooBigToCache: a reply of this size does not suit the session.
  Nfs4Status check_size(std::size_t bytes) const;
  // All results are complete: caches them and releases the slot.
  void finish();

 private:
  Compound& c_;
  const std::uint32_t operations_;
  const std::size_t reply_at_;
  std::shared_ptr<Session> session_;
  std::uint32_t slot_ = 0;
  bool cache_this_ = false;
  bool replayed_ = false;
};

}  // namespace stoa::nfs4
