#include "core/state/share_table.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::core {
namespace {
constexpr std::uint32_t kMinusOne = ~std::uint32_t{0};
}

void ShareTable::Counts::add(Modes open, std::uint32_t delta) {
  STOA_ASSERT((open & ~kOpenModes) == 0, "an open has modes of opens only");
  STOA_ASSERT(delta == 1 || opens > 0, "no more opens end than began");
  opens += delta;
  for (std::size_t i = 0; i < of.size(); ++i) {
    of[i] += (open >> i & 1) * delta;
    STOA_ASSERT(of[i] <= opens, "a mode is of some of the opens");
  }
}

Modes ShareTable::Counts::modes() const {
  Modes found = 0;
  for (std::size_t i = 0; i < of.size(); ++i) found |= of[i] != 0 ? 1u << i : 0u;
  return found;
}

void ShareTable::add(const LeaseOwner& owner, Modes open) {
  all_.add(open, 1);
  auto at = std::ranges::lower_bound(owners_, owner, {}, &Entry::owner);
  if (at == owners_.end() || at->owner != owner) at = owners_.insert(at, {owner, {}});
  at->counts.add(open, 1);
  STOA_ASSERT(at->counts.opens <= all_.opens, "an owner's opens are some of all");
  STOA_ASSERT(owners_.size() <= all_.opens, "each owner in the table has an open");
}

void ShareTable::remove(const LeaseOwner& owner, Modes open) {
  all_.add(open, kMinusOne);
  const auto at = std::ranges::lower_bound(owners_, owner, {}, &Entry::owner);
  STOA_ASSERT(at != owners_.end() && at->owner == owner, "an open ends for the owner that it was counted for");
  at->counts.add(open, kMinusOne);
  if (at->counts.opens == 0) owners_.erase(at);
  STOA_ASSERT(owners_.empty() == (all_.opens == 0), "the opens of all owners are all opens");
}

Modes ShareTable::modes_without(Modes one) const {
  Counts others = all_;
  others.add(one, kMinusOne);
  return others.modes();
}

Modes ShareTable::modes_of(const LeaseOwner& owner) const {
  const auto at = std::ranges::lower_bound(owners_, owner, {}, &Entry::owner);
  return at == owners_.end() || at->owner != owner ? 0 : at->counts.modes();
}

Modes ShareTable::modes_of_others(const LeaseOwner& owner) const {
  Counts others = all_;
  const auto at = std::ranges::lower_bound(owners_, owner, {}, &Entry::owner);
  if (at == owners_.end() || at->owner != owner) return others.modes();
  for (std::size_t i = 0; i < others.of.size(); ++i) {
    STOA_ASSERT(others.of[i] >= at->counts.of[i], "an owner's opens are some of all");
    others.of[i] -= at->counts.of[i];
  }
  return others.modes();
}

}  // namespace stoa::core
