#include "core/usage/account_counters.h"

#include "base/debug_assert.h"

namespace stoa::core {

void AccountCounters::leave_out(const ExcludedClasses& classes) {
  total.leave_out(classes);
  STOA_DEBUG_ASSERT(!is_negative(total.counted()), "limits see no less than nothing");
  if (owners == nullptr) return;
  for (auto& [owner, counter] : owners->by_owner) counter.leave_out(classes);
}

void AccountCounters::begin_owners(OwnersCounted to) {
  STOA_ASSERT(to != OwnersCounted::kYes || owners == nullptr, "owners who are known are not counted from nothing");
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
