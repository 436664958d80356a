// What conflicts with what: the one table behind every answer of core/state. What somebody holds of a file, or asks for,
// is a set of facets; each facet stands against some others.
//
// Between whom: opens with every other open, the holder's own ones, too (share-deny); byte-range locks with those of every
// other owner, where they overlap; everything else between different holders.
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
  // Never held, only asked for: one access of somebody who need not have an open.
  kLooks = 1 << 8,
  kChanges = 1 << 9,
};
inline constexpr std::size_t kFacets = 10;

inline constexpr Facets kOpenFacets = kOpenReads | kOpenWrites | kOpenDeniesRead | kOpenDeniesWrite;
inline constexpr Facets kLockFacets = kLockShared | kLockExclusive;
inline constexpr Facets kLeaseFacets = kLeaseRead | kLeaseWrite;

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
    /* kLeaseWrite      */ kOpenFacets | kLockFacets | kLeaseFacets,
    /* kLooks           */ kLeaseWrite,
    /* kChanges         */ kLeaseRead | kLeaseWrite,
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
constexpr Facets facet_of_lock(bool exclusive) { return exclusive ? kLockExclusive : kLockShared; }
constexpr Facets facet_of_lease(LeaseKind kind) { return kind == LeaseKind::kWrite ? kLeaseWrite : kLeaseRead; }

}  // namespace stoa::core
