// What conflicts with what: the one table behind every answer of core/state. What somebody holds of a file, or asks
// for, is a set of facets; each facet stands against some others.
//
// Between whom: opens with every other open, the holder's own ones, too (share-deny); byte-range locks with those of
// every other owner, where they overlap (an open's own mandatory locks: mandatory_ranges.h); everything else between
// different holders. A handle lease hinders nobody by itself: it is recalled from a holder whose opens are in
// somebody's way.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/api/state.h"

namespace stoa::core {

using Facets = std::uint32_t;
enum Facet : Facets {
  kOpenReads = 1 << 0,
  kOpenWrites = 1 << 1,
  kOpenDeniesRead = 1 << 2,
  kOpenDeniesWrite = 1 << 3,
  kLockShared = 1 << 4,
  kLockExclusive = 1 << 5,
  kLeaseRead = 1 << 6,
  kLeaseWrite = 1 << 7,
  kLeaseHandle = 1 << 8,
  // What a mandatory lock is besides a lock: it stands against reading and writing.
  kForbidsWriting = 1 << 9,
  kForbidsReading = 1 << 10,
  // Never held, only asked for: one access of somebody who need not have an open.
  kLooks = 1 << 11,
  kChanges = 1 << 12,
  kTakesName = 1 << 13,
  kReadsRange = 1 << 14,
  kWritesRange = 1 << 15,
};
inline constexpr std::size_t kFacets = 16;
inline constexpr std::size_t kHeldFacets = 11;

inline constexpr Facets kOpenFacets = kOpenReads | kOpenWrites | kOpenDeniesRead | kOpenDeniesWrite;
inline constexpr Facets kLockFacets = kLockShared | kLockExclusive;
inline constexpr Facets kDataLeaseFacets = kLeaseRead | kLeaseWrite;

// By number of the facet.
inline constexpr std::array<Facets, kFacets> kAgainst = {
    /* kOpenReads       */ kOpenDeniesRead | kLeaseWrite,
    /* kOpenWrites      */ kOpenDeniesWrite | kLeaseRead | kLeaseWrite,
    // Who has a lease opens the file for reading without asking: nobody may deny that meanwhile.
    /* kOpenDeniesRead  */ kOpenReads | kLeaseRead | kLeaseWrite,
    /* kOpenDeniesWrite */ kOpenWrites | kLeaseWrite,
    // A write lease lets its holder lock without asking, a read lease lets him have shared locks so.
    /* kLockShared      */ kLockExclusive | kLeaseWrite,
    /* kLockExclusive   */ kLockShared | kLockExclusive | kLeaseRead | kLeaseWrite,
    /* kLeaseRead       */ kOpenWrites | kOpenDeniesRead | kLockExclusive | kLeaseWrite,
    /* kLeaseWrite      */ kOpenFacets | kLockFacets | kDataLeaseFacets,
    /* kLeaseHandle     */ 0,
    /* kForbidsWriting  */ 0,
    /* kForbidsReading  */ 0,
    /* kLooks           */ kLeaseWrite,
    /* kChanges         */ kLeaseRead | kLeaseWrite,
    /* kTakesName       */ kLeaseHandle,
    /* kReadsRange      */ kForbidsReading,
    /* kWritesRange     */ kForbidsWriting,
};

// All that stands against any of `asked`.
constexpr Facets against(Facets asked) {
  Facets found = 0;
  for (; asked != 0; asked &= asked - 1) found |= kAgainst[static_cast<std::size_t>(std::countr_zero(asked))];
  return found;
}

constexpr Facets facets_of_open(std::uint32_t access, std::uint32_t deny) {
  return ((access & kShareRead) != 0 ? kOpenReads : 0u) | ((access & kShareWrite) != 0 ? kOpenWrites : 0u) |
         ((deny & kShareRead) != 0 ? kOpenDeniesRead : 0u) | ((deny & kShareWrite) != 0 ? kOpenDeniesWrite : 0u);
}
constexpr Facets facet_of_lock(bool exclusive) {
  return exclusive ? kLockExclusive : kLockShared;
}
constexpr Facets facets_of_mandatory_lock(bool exclusive) {
  return facet_of_lock(exclusive) | kForbidsWriting | (exclusive ? kForbidsReading : 0u);
}
constexpr Facets facet_of_lease(LeaseKind kind) {
  return kind == LeaseKind::kHandle ? kLeaseHandle : kind == LeaseKind::kWrite ? kLeaseWrite : kLeaseRead;
}

}  // namespace stoa::core
