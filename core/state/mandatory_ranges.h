// The mandatory byte-range locks of one file: each belongs to an open and is never merged (MS-FSA 2.1.4.10, 2.1.5.8).
// Ranges may be empty: such a one conflicts with those around it.
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
  // A lock that conflicts with the requested one. The open's own ones conflict with an exclusive lock alone.
  const MandatoryLock* in_the_way(OpenId open, const LockRange& range, bool exclusive) const;
  // A lock that conflicts with an access (kReadsRange, kWritesRange). The open's own exclusive locks do not, its
  // shared ones conflict with writing.
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
