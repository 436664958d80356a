#include "core/state/leases.h"

#include <algorithm>

namespace stoa::core {

const Lease* Leases::find(LeaseId id) const {
  const auto at = std::ranges::find(leases_, id, &Lease::id);
  return at == leases_.end() ? nullptr : &*at;
}

const Lease* Leases::of(HolderId holder, bool handle) const {
  const auto at = std::ranges::find_if(leases_, [&](const Lease& lease) {
    return lease.holder == holder && (lease.kind == LeaseKind::kHandle) == handle;
  });
  return at == leases_.end() ? nullptr : &*at;
}

std::optional<Lease> Leases::remove(LeaseId id) {
  const auto at = std::ranges::find(leases_, id, &Lease::id);
  if (at == leases_.end()) return std::nullopt;
  const Lease gone = *at;
  leases_.erase(at);
  return gone;
}

}  // namespace stoa::core
