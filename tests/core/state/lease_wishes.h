// Leases as tests ask for them.
#pragma once

#include "core/api/state.h"

namespace stoa::core::test {

inline constexpr LeaseWish kReadDelegation{.bits = kReadCaching, .kind = LeaseKind::kDelegation};
inline constexpr LeaseWish kWriteDelegation{.bits = kReadCaching | kWriteCaching, .kind = LeaseKind::kDelegation};
inline constexpr LeaseWish kReads{.bits = kReadCaching};
inline constexpr LeaseWish kReadsAndKeeps{.bits = kReadCaching | kHandleCaching};
inline constexpr LeaseWish kKeepsHandle{.bits = kHandleCaching};
inline constexpr LeaseWish kAll{.bits = kAllCaching};

inline std::optional<LeaseId> grant(StateTable& table, FileId file, HolderId holder, const LeaseWish& wish,
                                    LeaseKey key = {}) {
  const auto granted = table.grant_lease(file, {holder, key}, wish);
  if (!granted) return std::nullopt;
  return granted->id;
}

}  // namespace stoa::core::test
