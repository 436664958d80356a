#include "core/usage/account_counters.h"

namespace stoa::core {

void AccountCounters::leave_out(const ExcludedClasses& classes) {
  total.leave_out(classes);
  if (owners == nullptr) return;
  for (auto& [owner, counter] : owners->by_owner) counter.leave_out(classes);
}

void AccountCounters::begin_owners(OwnersCounted to) {
  owners = to == OwnersCounted::kNo ? nullptr : std::make_unique<OwnerCounters>();
  if (to == OwnersCounted::kBeingCounted) owners->counted = std::make_shared<CountedFiles>();
}

void AccountCounters::end() {
  (void)total.limit({.excluded = excluded()}, nullptr);
  total.since = {};
  owners.reset();
  child_limits.reset();
}

}  // namespace stoa::core
