// The conflict table, behind every answer of core/state. State held of a file, or requested, is a set of modes; each
// mode conflicts with some others.
//
// Scope of conflicts: opens conflict with every other open, including the holder's own (share-deny). Byte-range locks
// conflict with overlapping ones of every other owner (an open's own mandatory locks: mandatory_ranges.h). All else
// conflicts between different lease owners, which are a holder and a key. Handle caching itself conflicts with nothing:
// it is recalled from a holder whose opens conflict.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/api/state.h"

namespace stoa::core {

using Modes = std::uint32_t;
enum Mode : Modes {
  kOpenReads = 1 << 0,
  kOpenWrites = 1 << 1,
  kOpenDeletes = 1 << 2,
  kOpenDeniesRead = 1 << 3,
  kOpenDeniesWrite = 1 << 4,
  kOpenDeniesDelete = 1 << 5,
  kLockShared = 1 << 6,
  kLockExclusive = 1 << 7,
  kLeaseRead = 1 << 8,
  kLeaseHandle = 1 << 9,
  kLeaseWrite = 1 << 10,
  // The open that a delegation implies: its holder reads the file, and denies writing.
  kLeaseOpens = 1 << 11,
  // The modes of a mandatory lock besides those of a lock: they conflict with writing and reading.
  kForbidsWriting = 1 << 12,
  kForbidsReading = 1 << 13,
  // Never held, only requested: one access, which needs no open.
  kLooks = 1 << 14,
  kChanges = 1 << 15,
  kTakesName = 1 << 16,
  kReadsRange = 1 << 17,
  kWritesRange = 1 << 18,
};
inline constexpr std::size_t kModes = 19;
inline constexpr std::size_t kHeldModes = 14;
inline constexpr std::size_t kOpenModeCount = 6;  // the first ones

inline constexpr Modes kOpenModes = (Modes{1} << kOpenModeCount) - 1;
inline constexpr Modes kLockModes = kLockShared | kLockExclusive;
inline constexpr Modes kDataLeaseModes = kLeaseRead | kLeaseWrite | kLeaseOpens;

// By number of the mode.
inline constexpr std::array<Modes, kModes> kConflictsWith = {
    /* kOpenReads        */ kOpenDeniesRead | kLeaseWrite,
    /* kOpenWrites       */ kOpenDeniesWrite | kLeaseWrite | kLeaseOpens,
    /* kOpenDeletes      */ kOpenDeniesDelete | kLeaseWrite,
    // The holder of a delegation opens the file for reading without asking: no open may deny that meanwhile.
    /* kOpenDeniesRead   */ kOpenReads | kLeaseWrite | kLeaseOpens,
    /* kOpenDeniesWrite  */ kOpenWrites | kLeaseWrite,
    /* kOpenDeniesDelete */ kOpenDeletes | kLeaseWrite,
    // Write caching lets the holder lock without asking, read caching lets it have shared locks so.
    /* kLockShared       */ kLockExclusive | kLeaseWrite,
    /* kLockExclusive    */ kLockShared | kLockExclusive | kLeaseRead | kLeaseWrite,
    /* kLeaseRead        */ kLockExclusive | kLeaseWrite,
    /* kLeaseHandle      */ 0,
    /* kLeaseWrite       */ kOpenModes | kLockModes | kDataLeaseModes,
    /* kLeaseOpens       */ kOpenWrites | kOpenDeniesRead | kLeaseWrite,
    /* kForbidsWriting   */ 0,
    /* kForbidsReading   */ 0,
    /* kLooks            */ kLeaseWrite,
    /* kChanges          */ kLeaseRead | kLeaseWrite,
    /* kTakesName        */ kLeaseHandle,
    /* kReadsRange       */ kForbidsReading,
    /* kWritesRange      */ kForbidsWriting,
};

// All modes that conflict with any of `asked`.
constexpr Modes conflicts_with(Modes asked) {
  Modes found = 0;
  for (; asked != 0; asked &= asked - 1) found |= kConflictsWith[static_cast<std::size_t>(std::countr_zero(asked))];
  return found;
}

// ShareBits. An open of the attributes alone denies nothing.
constexpr Modes modes_of_open(std::uint32_t access, std::uint32_t deny) {
  if (access == kShareNone) return 0;
  return ((access & kShareRead) != 0 ? kOpenReads : 0u) | ((access & kShareWrite) != 0 ? kOpenWrites : 0u) |
         ((access & kShareDelete) != 0 ? kOpenDeletes : 0u) | ((deny & kShareRead) != 0 ? kOpenDeniesRead : 0u) |
         ((deny & kShareWrite) != 0 ? kOpenDeniesWrite : 0u) | ((deny & kShareDelete) != 0 ? kOpenDeniesDelete : 0u);
}
constexpr std::uint32_t access_of(Modes open) {
  return ((open & kOpenReads) != 0 ? kShareRead : 0u) | ((open & kOpenWrites) != 0 ? kShareWrite : 0u) |
         ((open & kOpenDeletes) != 0 ? kShareDelete : 0u);
}
constexpr std::uint32_t deny_of(Modes open) {
  return ((open & kOpenDeniesRead) != 0 ? kShareRead : 0u) | ((open & kOpenDeniesWrite) != 0 ? kShareWrite : 0u) |
         ((open & kOpenDeniesDelete) != 0 ? kShareDelete : 0u);
}
constexpr Modes mode_of_lock(bool exclusive) {
  return exclusive ? kLockExclusive : kLockShared;
}
constexpr Modes modes_of_mandatory_lock(bool exclusive) {
  return mode_of_lock(exclusive) | kForbidsWriting | (exclusive ? kForbidsReading : 0u);
}
constexpr Modes modes_of_lease(std::uint32_t bits, LeaseKind kind) {
  return ((bits & kReadCaching) != 0 ? kLeaseRead : 0u) | ((bits & kHandleCaching) != 0 ? kLeaseHandle : 0u) |
         ((bits & kWriteCaching) != 0 ? kLeaseWrite : 0u) |
         ((bits & kReadCaching) != 0 && kind == LeaseKind::kDelegation ? kLeaseOpens : 0u);
}
// Write caching needs read caching.
constexpr bool valid_bits(std::uint32_t bits) {
  return bits != kLeaseNone && bits <= kAllCaching && ((bits & kWriteCaching) == 0 || (bits & kReadCaching) != 0);
}
// The rest of a lease without the bits that `bad` conflicts with. A cache that is not valid any more is dropped whole.
constexpr std::uint32_t bits_beside(std::uint32_t bits, LeaseKind kind, Modes bad) {
  if ((modes_of_lease(bits, kind) & bad) == 0) return bits;
  if (kind == LeaseKind::kDelegation || (bad & kLeaseRead) != 0) return kLeaseNone;
  return bits & ~((bad & kLeaseHandle) != 0 ? kHandleCaching : 0u) & ~((bad & kLeaseWrite) != 0 ? kWriteCaching : 0u);
}

}  // namespace stoa::core
