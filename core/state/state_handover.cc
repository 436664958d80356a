// Moves a holder's state from one table into another.
#include <algorithm>
#include <tuple>

#include "core/state/state_table.h"

namespace stoa::core {

HolderState VolumeState::export_holder(HolderId holder) const {
  HolderState state;
  const auto now = options_.now();
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.holdings.find(holder);
    if (found == shard.holdings.end()) continue;
    for (const OpenId id : found->second.opens) {
      const Open& open = shard.opens.at(id);
      const FileState& file = shard.files.at(open.file);
      const auto value = [](const std::shared_ptr<const OpenedName>& name) {
        return name == nullptr ? std::nullopt : std::optional(*name);
      };
      state.opens.push_back({.id = id,
                             .file = open.file,
                             .access = access_of(open.modes),
                             .deny = deny_of(open.modes),
                             .lease_key = open.owner.key,
                             .name = value(open.name),
                             .delete_on_close = open.delete_on_close,
                             .delete_pending = value(file.doomed)});
      file.mandatory.each([&](const MandatoryLock& one) {
        if (one.open == id) state.mandatory_locks.push_back({id, one.range, one.exclusive});
      });
    }
    for (const FileId file : found->second.locked) {
      shard.files.at(file).locks.each([&](const LockOwner& owner, const ByteSpan& span, bool exclusive) {
        if (owner.holder == holder) state.locks.push_back({file, owner.name, range_of(span), exclusive});
      });
    }
    for (const LeaseId id : found->second.leases) {
      const FileId file = shard.leases.at(id);
      const Lease& lease = *shard.files.at(file).leases.find(id);
      if (lease.tentative || lease.lapsed(now)) continue;
      state.leases.push_back({.id = id, .file = file, .key = lease.owner.key, .bits = lease.bits, .kind = lease.kind});
    }
  }
  std::ranges::sort(state.opens, {}, &HolderState::Open::id);
  std::ranges::sort(state.mandatory_locks, {},
                    [](const HolderState::MandatoryLock& one) { return std::pair(one.open, one.range.offset); });
  std::ranges::sort(state.leases, {}, &HolderState::Lease::id);
  std::ranges::sort(state.locks, {}, [](const HolderState::Lock& one) {
    return std::tuple(one.file, std::string_view(one.owner), one.range.offset);
  });
  return state;
}

bool VolumeState::adopt(HolderId holder, const HolderState::Open& open) {
  Shard& shard = shard_of(open.file);
  if (open.id == kNoOpen || &shard != &shard_of(open.id) || core::shard_of(open.id) != core::shard_of(open.file)) {
    return false;
  }
  const Modes modes = modes_of_open(open.access, open.deny);
  const LeaseOwner owner{holder, open.lease_key};
  {
    const std::lock_guard lock(shard.mutex);
    if (!holders_.alive(holder) || shard.opens.contains(open.id)) return false;
    FileState& file = shard.files[open.file];
    Modes others = file.shares.modes();
    file.leases.each([&](const Lease& other) {
      if (other.owner != owner && !other.lapsed(options_.now())) others |= other.modes();
    });
    // The other opens of a file that is to be deleted come with the same word.
    const bool deletes_else = file.doomed != nullptr && (!open.delete_pending || *open.delete_pending != *file.doomed);
    if (deletes_else || (others & conflicts_with(modes)) != 0 || !take_opens(holder, 1)) {
      forget_if_empty(shard, open.file);
      return false;
    }
    const auto shared = [](const OpenedName& name) { return std::make_shared<const OpenedName>(name); };
    Open adopted{open.file, owner, modes};
    if (open.name) adopted.name = shared(*open.name);
    adopted.delete_on_close = open.delete_on_close && open.name.has_value();
    if (open.delete_pending && file.doomed == nullptr) file.doomed = shared(*open.delete_pending);
    add_open(shard, open.id, adopted);
  }
  return look_at_opened(open.id, open.file).has_value();
}

bool VolumeState::adopt(HolderId holder, const HolderState::Lease& lease) {
  Shard& shard = shard_of(lease.file);
  if (!valid_bits(lease.bits) || &shard != &shard_of(lease.id) ||
      core::shard_of(lease.id) != core::shard_of(lease.file)) {
    return false;
  }
  const LeaseOwner owner{holder, lease.key};
  const auto place = files_.place(lease.file);
  if (!place || (lease.kind == LeaseKind::kFiles && !place->is_directory)) return false;
  if (lease.kind == LeaseKind::kFiles) {
    const FilesLeaseAnnounced announced(*this);
    return adopt_beside(owner, lease, 0);
  }
  if (place->is_directory) return adopt_beside(owner, lease, 0);
  covered_.pin(lease.file, owner, lease.bits, place->directories);
  const bool adopted = adopt_beside(owner, lease, files_leases_beside(lease.file, owner, *place));
  covered_.unpin(lease.file, owner);
  return adopted;
}

bool VolumeState::adopt_beside(const LeaseOwner& owner, const HolderState::Lease& lease, Modes around) {
  const HolderId holder = owner.holder;
  Shard& shard = shard_of(lease.file);
  const std::lock_guard lock(shard.mutex);
  if (!holders_.alive(holder) || shard.leases.contains(lease.id)) return false;
  const auto now = options_.now();
  const auto found = shard.files.find(lease.file);
  const FileState* const file = found == shard.files.end() ? nullptr : &found->second;
  if (file != nullptr && found->second.leases.of(owner) != nullptr) return false;
  const Modes others = around | (lease.kind == LeaseKind::kFiles ? held_of_files(lease.file, file, owner, now)
                                 : file != nullptr               ? held_by_others(*file, owner, lease.kind, now)
                                                                 : 0);
  if ((others & conflicts_with(modes_of_lease(lease.bits, lease.kind))) != 0) return false;
  if (!take_leases(holder, 1)) return false;
  // The granted state has not changed since: the shard's owner changes nothing before its clients are back.
  add_lease(shard, lease.file,
            {.id = lease.id, .owner = owner, .bits = lease.bits, .kind = lease.kind, .tentative = false});
  return true;
}

HolderState VolumeState::adopt_holder(HolderId holder, const HolderState& state) {
  HolderState lost;
  for (const HolderState::Open& open : state.opens) {
    if (!adopt(holder, open)) lost.opens.push_back(open);
  }
  for (const HolderState::MandatoryLock& one : state.mandatory_locks) {
    const bool opened = std::ranges::binary_search(state.opens, one.open, {}, &HolderState::Open::id) &&
                        std::ranges::find(lost.opens, one.open, &HolderState::Open::id) == lost.opens.end();
    const auto locked = lock_mandatory(opened ? one.open : kNoOpen, one.range, one.exclusive);
    if (!locked || *locked) lost.mandatory_locks.push_back(one);
  }
  for (const HolderState::Lock& one : state.locks) {
    const auto locked = lock(one.file, {holder, one.owner}, one.range, one.exclusive);
    if (!locked || *locked) lost.locks.push_back(one);
  }
  for (const HolderState::Lease& lease : state.leases) {
    if (!adopt(holder, lease)) lost.leases.push_back(lease);
  }
  return lost;
}

}  // namespace stoa::core
