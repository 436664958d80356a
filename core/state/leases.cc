#include "core/state/leases.h"

#include <algorithm>

namespace stoa::core {

const Lease* Leases::find(LeaseId id) const {
  const auto at = std::ranges::find(leases_, id, &Lease::id);
  return at == leases_.end() ? nullptr : &*at;
}

const Lease* Leases::of(HolderId holder) const {
  const auto at = std::ranges::find(leases_, holder, &Lease::holder);
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
