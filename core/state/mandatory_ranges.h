// The mandatory byte-range locks of one file: each belongs to an open and stands by itself (MS-FSA 2.1.4.10, 2.1.5.8).
// Ranges may be of no bytes: such a one conflicts with those that it lies within.
#pragma once

#include <vector>

#include "core/state/lock_ranges.h"

namespace stoa::core {

struct MandatoryLock {
  OpenId open{};
  LeaseOwner owner;
  LockRange range;
  bool exclusive = false;
};

// kInvalid: beyond 2^64-1.
Status check_mandatory_range(const LockRange& range);

class MandatoryRanges {
 public:
  bool empty() const { return locks_.empty(); }
  Modes modes_of_others(const LeaseOwner& owner) const;
  // What keeps this open from a lock. Its own ones count against an exclusive lock alone.
  const MandatoryLock* in_the_way(OpenId open, const LockRange& range, bool exclusive) const;
  // What keeps it from an access (kReadsRange, kWritesRange). Its own exclusive locks do not, its shared ones keep it
  // from writing.
  const MandatoryLock* in_the_way_of_io(OpenId open, const LockRange& range, Modes access) const;

  void add(const MandatoryLock& lock) { locks_.push_back(lock); }
  bool remove(OpenId open, const LockRange& range);  // the oldest of this range
  std::size_t remove(OpenId open);                   // how many
  template <class Visit>
  void each(Visit visit) const {
    for (const MandatoryLock& lock : locks_) visit(lock);
  }

 private:
  std::vector<MandatoryLock> locks_;
};

}  // namespace stoa::core
