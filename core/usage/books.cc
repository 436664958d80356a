#include "core/usage/books.h"

namespace stoa::core {

void Books::leave_out(const ExcludedClasses& classes) {
  total.leave_out(classes);
  if (owners == nullptr) return;
  for (auto& [owner, balance] : owners->balances) balance.leave_out(classes);
}

void Books::begin_owners(OwnersCounted to) {
  owners = to == OwnersCounted::kNo ? nullptr : std::make_unique<OwnerBooks>();
  if (to == OwnersCounted::kBeingCounted) owners->counted = std::make_shared<CountedFiles>();
}

void Books::end() {
  (void)total.limit({.excluded = excluded()}, nullptr);
  total.since = {};
  owners.reset();
  child_limits.reset();
}

}  // namespace stoa::core
