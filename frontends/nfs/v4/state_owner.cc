#include "frontends/nfs/v4/state_owner.h"

namespace stoa::nfs4 {

OwnerRef OwnerTable::find(OwnerKind kind, std::string_view name) const {
  const auto found = owners_.find({kind, std::string(name)});
  return found != owners_.end() ? found->second : nullptr;
}

OwnerRef OwnerTable::use(OwnerKind kind, std::string_view name) {
  OwnerRef& owner = owners_[{kind, std::string(name)}];
  if (owner == nullptr) owner = std::make_shared<StateOwner>(kind, name);
  use(owner);
  return owner;
}

void OwnerTable::use(const OwnerRef& owner) {
  ++owner->users;
  if (owner->idle_since == 0) return;
  idle_.erase(owner->idle_since);
  owner->idle_since = 0;
}

void OwnerTable::release(const OwnerRef& owner) {
  if (owner->users > 0) --owner->users;
  const auto known = owners_.find({owner->kind, owner->name});
  if (owner->users > 0 || known == owners_.end() || known->second != owner) return;
  // A lock-owner without state begins anew: its next LOCK marks it as new (16.10.5).
  if (owner->kind == OwnerKind::kLock) return forget(OwnerRef(owner));
  owner->idle_since = next_idle_++;
  idle_.emplace(owner->idle_since, owner);
  if (idle_.size() > kIdleOwnersMax) forget(OwnerRef(idle_.begin()->second));
}

void OwnerTable::forget(const OwnerRef& owner) {
  clear_closed(owner);
  if (owner->idle_since != 0) idle_.erase(owner->idle_since);
  owner->idle_since = 0;
  const auto known = owners_.find({owner->kind, owner->name});
  if (known != owners_.end() && known->second == owner) owners_.erase(known);
}

void OwnerTable::set_closed(const OwnerRef& owner, std::uint32_t serial) {
  clear_closed(owner);
  owner->closed_serial = serial;
  closed_[serial] = owner;
}

void OwnerTable::clear_closed(const OwnerRef& owner) {
  if (owner->closed_serial == 0) return;
  closed_.erase(owner->closed_serial);
  owner->closed_serial = 0;
}

OwnerRef OwnerTable::of_closed(std::uint32_t serial) const {
  const auto found = closed_.find(serial);
  return found != closed_.end() ? found->second : nullptr;
}

void OwnerTable::clear() {
  owners_.clear();
  idle_.clear();
  closed_.clear();
}

}  // namespace stoa::nfs4
