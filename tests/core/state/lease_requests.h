// Lease requests of tests.
#pragma once

#include "core/api/state.h"

namespace stoa::core::test {

inline constexpr LeaseRequest kReadDelegation{.bits = kReadCaching, .kind = LeaseKind::kDelegation};
inline constexpr LeaseRequest kWriteDelegation{.bits = kReadCaching | kWriteCaching, .kind = LeaseKind::kDelegation};
inline constexpr LeaseRequest kReads{.bits = kReadCaching};
inline constexpr LeaseRequest kReadsAndKeeps{.bits = kReadCaching | kHandleCaching};
inline constexpr LeaseRequest kKeepsHandle{.bits = kHandleCaching};
inline constexpr LeaseRequest kAll{.bits = kAllCaching};
inline constexpr LeaseRequest kFilesRead{.bits = kReadCaching, .kind = LeaseKind::kFiles};
inline constexpr LeaseRequest kFilesReadAndHandle{.bits = kReadCaching | kHandleCaching, .kind = LeaseKind::kFiles};
inline constexpr LeaseRequest kFilesAll{.bits = kAllCaching, .kind = LeaseKind::kFiles};

inline std::optional<LeaseId> grant(StateTable& table, FileId file, HolderId holder, const LeaseRequest& wanted,
                                    LeaseKey key = {}) {
  const auto granted = table.grant_lease(file, {holder, key}, wanted);
  if (!granted) return std::nullopt;
  return granted->id;
}

}  // namespace stoa::core::test
