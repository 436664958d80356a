#include "core/state/leases.h"

#include <algorithm>

#include "base/debug_assert.h"

namespace stoa::core {

const Lease* Leases::find(LeaseId id) const {
  const auto at = std::ranges::find(leases_, id, &Lease::id);
  return at == leases_.end() ? nullptr : &*at;
}

Lease* Leases::of(const LeaseOwner& owner) {
  const auto at = std::ranges::find(leases_, owner, &Lease::owner);
  return at == leases_.end() ? nullptr : &*at;
}

std::optional<StateClock::time_point> Leases::awaited_until(StateClock::time_point now) const {
  std::optional<StateClock::time_point> last;
  for (const Lease& lease : leases_) {
    if (lease.awaited(now)) last = std::max(last, std::optional(*lease.recalled + lease.recall_timeout));
  }
  return last;
}

void Leases::add(const Lease& lease) {
  STOA_ASSERT(valid_bits(lease.bits), "write caching comes with read caching");
  STOA_ASSERT(!lease.recalled, "a new lease is not recalled yet");
  STOA_DEBUG_ASSERT(of(lease.owner) == nullptr, "an owner has one lease of a file");
  leases_.push_back(lease);
}

std::optional<Lease> Leases::remove(LeaseId id) {
  const auto at = std::ranges::find(leases_, id, &Lease::id);
  if (at == leases_.end()) return std::nullopt;
  const Lease gone = *at;
  leases_.erase(at);
  return gone;
}

}  // namespace stoa::core
