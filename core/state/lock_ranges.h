// Byte-range locks of one file, with the rules of POSIX fcntl: an owner's locks replace each other, and new ones and
// unlocks split, merge, upgrade and downgrade them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/state/conflicts.h"

namespace stoa::core {

// Both ends are included, so that it can reach 2^64-1.
struct ByteSpan {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
inline bool overlap(const ByteSpan& a, const ByteSpan& b) {
  return a.first <= b.last && b.first <= a.last;
}
// kInvalid: length 0, or beyond 2^64-1.
Result<ByteSpan> span_of(const LockRange& range);
LockRange range_of(const ByteSpan& span);

class LockRanges {
 public:
  bool empty() const { return owners_.empty(); }
  bool holds(const LockOwner& owner) const { return find(owner) != owners_.end(); }
  bool holds(HolderId holder) const;
  Modes modes_of_others(HolderId holder) const;

  // The lock with the lowest offset that keeps `owner` from having this one.
  std::optional<HeldLock> in_the_way(const LockOwner& owner, const ByteSpan& span, bool exclusive) const;

  // The owners of the conflicting locks.
  std::vector<LockOwner> owners_in_the_way(const LockOwner& owner, const ByteSpan& span, bool exclusive) const;

  // A change of one owner's locks, made in two steps, so that a limit can refuse it in between. It has the new locks
  // that replace the owner's old ones at [begin, end). `exclusive` empty: an unlock.
  struct Change {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t count = 0;
    struct Held {
      ByteSpan span;
      bool exclusive = false;
    };
    std::array<Held, 3> become{};
    std::int64_t growth() const { return static_cast<std::int64_t>(count) - static_cast<std::int64_t>(end - begin); }
  };
  Change plan(const LockOwner& owner, const ByteSpan& span, std::optional<bool> exclusive) const;
  void apply(const LockOwner& owner, const Change& change);

  // The number of locks removed.
  std::size_t remove(const LockOwner& owner);
  std::size_t remove(HolderId holder);

  // By owner and offset: its owner, the span, whether it is exclusive.
  template <class Visit>
  void each(Visit visit) const {
    for (const Owner& o : owners_) {
      for (const Change::Held& held : o.locks) visit(o.owner, held.span, held.exclusive);
    }
  }

 private:
  struct Owner {
    LockOwner owner;
    std::vector<Change::Held> locks;  // by offset; they do not overlap
  };
  // The first lock of `other` that conflicts with another owner; null: none.
  static const Change::Held* first_in_the_way(const Owner& other, const ByteSpan& span, Modes against);
  std::vector<Owner>::const_iterator find(const LockOwner& owner) const {
    return std::ranges::find(owners_, owner, &Owner::owner);
  }
  template <class Gone>
  std::size_t remove_if(Gone gone);

  std::vector<Owner> owners_;  // none without a lock
};

}  // namespace stoa::core
