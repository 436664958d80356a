#include "core/state/covered_leases.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::core {

void CoveredLeases::add_directory(All::iterator at, FileId directory) {
  if (!by_directory_.emplace(directory, at->first).second) return;
  at->second.directories.push_back(directory);
}

void CoveredLeases::forget_if_unused(All::iterator at) {
  if (at->second.pins != 0 || at->second.bits != kLeaseNone) return;
  for (const FileId directory : at->second.directories) by_directory_.erase({directory, at->first});
  held_.erase(at);
}

void CoveredLeases::pin(FileId file, const LeaseOwner& owner, std::uint32_t bits, std::span<const FileId> directories) {
  const std::lock_guard lock(mutex_);
  const auto at = held_.try_emplace({file, owner}).first;
  ++at->second.pins;
  at->second.wanted |= bits;
  for (const FileId directory : directories) add_directory(at, directory);
}

void CoveredLeases::unpin(FileId file, const LeaseOwner& owner) {
  const std::lock_guard lock(mutex_);
  const auto at = held_.find({file, owner});
  STOA_ASSERT(at != held_.end() && at->second.pins > 0, "what is pinned is there");
  if (--at->second.pins == 0) at->second.wanted = kLeaseNone;
  forget_if_unused(at);
}

void CoveredLeases::has(FileId file, const LeaseOwner& owner, std::uint32_t bits) {
  const std::lock_guard lock(mutex_);
  if (const auto at = held_.find({file, owner}); at != held_.end()) at->second.bits = bits;
}

void CoveredLeases::ended(FileId file, const LeaseOwner& owner) {
  const std::lock_guard lock(mutex_);
  const auto at = held_.find({file, owner});
  if (at == held_.end()) return;
  at->second.bits = kLeaseNone;
  forget_if_unused(at);
}

void CoveredLeases::named_in(FileId file, FileId directory) {
  const std::lock_guard lock(mutex_);
  for (auto at = held_.lower_bound({file, {}}); at != held_.end() && at->first.file == file; ++at) {
    add_directory(at, directory);
  }
}

Modes CoveredLeases::below(FileId directory, HolderId but) const {
  const std::lock_guard lock(mutex_);
  Modes found = 0;
  for (auto at = by_directory_.lower_bound({directory, {}}); at != by_directory_.end() && at->first == directory;
       ++at) {
    if (at->second.owner.holder == but) continue;
    const Held& held = held_.at(at->second);
    found |= modes_of_lease(held.bits | held.wanted, LeaseKind::kCache);
  }
  return found;
}

bool CoveredLeases::empty() const {
  const std::lock_guard lock(mutex_);
  return held_.empty();
}

}  // namespace stoa::core
