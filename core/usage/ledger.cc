#include "core/usage/ledger.h"

#include <algorithm>

namespace stoa::core {
namespace {

bool over(const Account& account, const Usage& delta) {
  const Usage after = account.reserved + delta;
  // Only growth is refused, each dimension by itself: deleting and shrinking must work above a limit, too.
  if (delta.bytes > 0 && account.limits.bytes && after.bytes > 0 &&
      static_cast<std::uint64_t>(after.bytes) > *account.limits.bytes) {
    return true;
  }
  const std::int64_t names = after.files + after.directories;
  return delta.files + delta.directories > 0 && account.limits.files && names > 0 &&
         static_cast<std::uint64_t>(names) > *account.limits.files;
}

void add(Account* account, const Account* stop, const Usage& delta) {
  for (; account != stop; account = account->parent.get()) account->reserved = account->reserved + delta;
}

// The nearest account that is on both chains; null when they meet nowhere.
const Account* meeting_point(const Account* a, const Account* b) {
  for (; a != nullptr; a = a->parent.get()) {
    for (const Account* other = b; other != nullptr; other = other->parent.get()) {
      if (a == other) return a;
    }
  }
  return nullptr;
}

}  // namespace

Status Ledger::reserve(const AccountRef& account, const Usage& delta) {
  const std::lock_guard lock(mutex_);
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    if (over(*a, delta)) return fail(Errc::kQuota);
  }
  add(account.get(), nullptr, delta);
  return {};
}

Status Ledger::move(const AccountRef& from, const AccountRef& to, const Usage& delta) {
  const std::lock_guard lock(mutex_);
  const Account* const shared = meeting_point(from.get(), to.get());
  for (const Account* a = to.get(); a != shared; a = a->parent.get()) {
    if (over(*a, delta)) return fail(Errc::kQuota);
  }
  add(from.get(), shared, -delta);
  add(to.get(), shared, delta);
  return {};
}

void Ledger::give_back(const AccountRef& account, const Usage& delta) {
  const std::lock_guard lock(mutex_);
  add(account.get(), nullptr, -delta);
}

UsageRecord Ledger::read(const AccountRef& account) const {
  const std::lock_guard lock(mutex_);
  return {account->reserved, account->limits};
}

void Ledger::set_parent(const AccountRef& account, const AccountRef& parent) {
  const std::lock_guard lock(mutex_);
  account->parent = parent;
}

void Ledger::set_limits(const AccountRef& account, const QuotaLimits& limits) {
  const std::lock_guard lock(mutex_);
  account->limits = limits;
}

QuotaLimits Ledger::room(const AccountRef& account) const {
  const std::lock_guard lock(mutex_);
  QuotaLimits room;
  const auto tighten = [](std::optional<std::uint64_t>& have, std::uint64_t limit, std::int64_t used) {
    const std::uint64_t u = used > 0 ? static_cast<std::uint64_t>(used) : 0;
    const std::uint64_t left = limit > u ? limit - u : 0;
    have = have ? std::min(*have, left) : left;
  };
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    if (a->limits.bytes) tighten(room.bytes, *a->limits.bytes, a->reserved.bytes);
    if (a->limits.files) tighten(room.files, *a->limits.files, a->reserved.files + a->reserved.directories);
  }
  return room;
}

QuotaLimits Ledger::tightest(const AccountRef& account) const {
  const std::lock_guard lock(mutex_);
  QuotaLimits limits;
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    if (a->limits.bytes) limits.bytes = limits.bytes ? std::min(*limits.bytes, *a->limits.bytes) : *a->limits.bytes;
    if (a->limits.files) limits.files = limits.files ? std::min(*limits.files, *a->limits.files) : *a->limits.files;
  }
  return limits;
}

}  // namespace stoa::core
