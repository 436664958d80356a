// The operations of a ring that threads carry out: those of one file one after the other, in the order in which they
// were submitted.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "frontends/native/lib/ring_operation.h"

namespace stoa::native::lib {

// Thread-safe. The jobs keep it alive: the last one ends after the ring, when nothing is under way any more.
class RingOrder : public std::enable_shared_from_this<RingOrder> {
 public:
  using Carry = std::function<void(RingOperation&)>;  // must not throw

  // Some of the file are waiting or being carried out.
  bool is_busy(core::FileId file) const;
  // `carry` runs soon, by a thread of `workers`, or by this one when there is none to be had.
  void add(data::Workers& workers, RingOperation operation, const Carry& carry);

 private:
  void carry_out(core::FileId file, const Carry& carry);

  mutable std::mutex mutex_;
  std::unordered_map<core::FileId, std::deque<RingOperation>> files_;  // guarded by mutex_; each has one job
};

}  // namespace stoa::native::lib
