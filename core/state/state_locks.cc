// The byte-range locks of the table, POSIX and mandatory ones; waiting for them is in state_lock_waits.cc.
#include "base/assert.h"
#include "core/state/state_table.h"

namespace stoa::core {

Result<std::optional<HeldLock>> VolumeState::lock_in_the_way(Shard& shard, FileId id, FileState& file,
                                                             const LockOwner& owner, const ByteSpan& span,
                                                             bool exclusive) {
  // A holder of a lease may have locks that only it knows of: it tells of them before it returns the lease.
  STOA_CHECK_OK(ask_leases(shard, id, file, {owner.holder, {}}, mode_of_lock(exclusive)));
  if (auto other = file.locks.in_the_way(owner, span, exclusive)) return other;
  const LockRange range = range_of(span);
  if (const MandatoryLock* const other = file.mandatory.in_the_way(kNoOpen, range, exclusive)) {
    return HeldLock{{other->owner.holder, {}}, other->range, other->exclusive};
  }
  return std::nullopt;
}

Result<std::optional<HeldLock>> VolumeState::take_lock(Shard& shard, FileId id, FileState& file, const LockOwner& owner,
                                                       const ByteSpan& span, bool exclusive) {
  STOA_TRY(other, lock_in_the_way(shard, id, file, owner, span, exclusive));
  if (other) return other;
  const LockRanges::Change change = file.locks.plan(owner, span, exclusive);
  STOA_CHECK_OK(take_locks(owner.holder, change.growth()));
  file.locks.apply(owner, change);
  STOA_ASSERT(!file.locks.empty(), "a file that was locked has locks");
  if (shard.holdings[owner.holder].locked.insert(id).second) holders_.count(owner.holder, 1);
  return std::nullopt;
}

Result<std::optional<HeldLock>> VolumeState::lock(FileId id, const LockOwner& owner, LockRange range, bool exclusive) {
  STOA_TRY(span, span_of(range));
  Shard& shard = shard_of(id);
  bool waited_for = false;
  auto locked = [&]() -> Result<std::optional<HeldLock>> {
    STOA_CHECK_OK(ask_files_leases(id, owner.holder, kLockShared));  // writes go, whatever the lock is
    const std::lock_guard lock(shard.mutex);
    if (!holders_.alive(owner.holder)) return fail(Errc::kInvalid, "no such holder");
    FileState& file = shard.files[id];
    auto result = take_lock(shard, id, file, owner, span, exclusive);
    waited_for = file.waited_for;
    forget_if_empty(shard, id);
    return result;
  }();
  send_recalls();
  if (waited_for && locked && !*locked) {
    end_wait({id, owner, range, exclusive});
    serve_waits(id);  // a downgrade gives something back
  }
  return locked;
}

Result<std::optional<HeldLock>> VolumeState::test_lock(FileId id, const LockOwner& owner, LockRange range,
                                                       bool exclusive) {
  STOA_TRY(span, span_of(range));
  Shard& shard = shard_of(id);
  auto tested = [&]() -> Result<std::optional<HeldLock>> {
    STOA_CHECK_OK(ask_files_leases(id, owner.holder, kLockShared));
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.files.find(id);
    if (found == shard.files.end()) return std::nullopt;
    auto result = lock_in_the_way(shard, id, found->second, owner, span, exclusive);
    forget_if_empty(shard, id);
    return result;
  }();
  send_recalls();
  return tested;
}

void VolumeState::end_locks(Shard& shard, FileId id, FileState& file, HolderId holder, std::size_t count) {
  if (count > 0) (void)take_locks(holder, -static_cast<std::int64_t>(count));
  const auto found = shard.holdings.find(holder);
  if (!file.locks.holds(holder) && found != shard.holdings.end() && found->second.locked.erase(id) != 0) {
    holders_.count(holder, -1);
  }
  forget_if_empty(shard, holder);
  forget_if_empty(shard, id);
}

Status VolumeState::unlock(FileId id, const LockOwner& owner, LockRange range) {
  STOA_TRY(span, span_of(range));
  Shard& shard = shard_of(id);
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.files.find(id);
    if (found == shard.files.end()) return {};
    FileState& file = found->second;
    if (!holders_.alive(owner.holder)) return {};
    const LockRanges::Change change = file.locks.plan(owner, span, std::nullopt);
    STOA_CHECK_OK(take_locks(owner.holder, change.growth()));
    file.locks.apply(owner, change);
    const bool waited_for = file.waited_for;
    end_locks(shard, id, file, owner.holder, 0);
    if (!waited_for) return {};
  }
  serve_waits(id);
  return {};
}

void VolumeState::unlock_all(FileId id, const LockOwner& owner) {
  Shard& shard = shard_of(id);
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.files.find(id);
    if (found == shard.files.end()) return;
    const bool waited_for = found->second.waited_for;
    end_locks(shard, id, found->second, owner.holder, found->second.locks.remove(owner));
    if (!waited_for) return;
  }
  serve_waits(id);
}

bool VolumeState::has_locks(FileId id, const LockOwner& owner) const {
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  return found != shard.files.end() && found->second.locks.holds(owner);
}

// --- mandatory ones

Result<std::optional<HeldLock>> VolumeState::lock_mandatory(OpenId open, LockRange range, bool exclusive) {
  STOA_CHECK_OK(check_mandatory_range(range));
  Shard& shard = shard_of(open);
  // Announced to grants of files leases before those that there are are asked.
  mandatory_locks_.fetch_add(1);
  auto locked = [&]() -> Result<std::optional<HeldLock>> {
    STOA_CHECK_OK(ask_files_leases(open, mode_of_lock(exclusive)));
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return fail(Errc::kInvalid, "no such open");
    const LeaseOwner owner = found->second.owner;
    const FileId id = found->second.file;
    FileState& file = shard.files.at(id);
    STOA_ASSERT(!file.shares.empty(), "a file that is open has opens");
    STOA_CHECK_OK(ask_leases(shard, id, file, owner, mode_of_lock(exclusive)));
    if (const MandatoryLock* const other = file.mandatory.in_the_way(open, range, exclusive)) {
      return HeldLock{{other->owner.holder, {}}, other->range, other->exclusive};
    }
    if (range.length != 0) {
      STOA_TRY(span, span_of(range));
      if (auto other = file.locks.in_the_way({owner.holder, {}}, span, exclusive)) return other;
    }
    STOA_CHECK_OK(take_locks(owner.holder, 1));
    file.mandatory.add({open, owner, range, exclusive});
    return std::nullopt;
  }();
  if (!locked || *locked) mandatory_locks_.fetch_sub(1);
  send_recalls();
  return locked;
}

Status VolumeState::unlock_mandatory(OpenId open, LockRange range) {
  Shard& shard = shard_of(open);
  FileId id = kNoFile;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return fail(Errc::kInvalid, "no such open");
    FileState& file = shard.files.at(found->second.file);
    if (!file.mandatory.remove(open, range)) return fail(Errc::kNotFound, "no lock of this range");
    end_mandatory(found->second.owner.holder, 1);
    if (!file.waited_for) return {};
    id = found->second.file;
  }
  serve_waits(id);
  return {};
}

void VolumeState::end_mandatory(HolderId holder, std::size_t count) {
  (void)take_locks(holder, -static_cast<std::int64_t>(count));
  const std::int64_t before = mandatory_locks_.fetch_sub(static_cast<std::int64_t>(count));
  STOA_ASSERT(before >= static_cast<std::int64_t>(count), "no more mandatory locks end than began");
}

Status VolumeState::check_mandatory(const OpContext& ctx, FileId id, std::uint64_t offset, std::uint64_t length,
                                    bool write) {
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  if (found == shard.files.end()) return {};
  if (found->second.mandatory.in_the_way_of_io(ctx.open, {offset, length}, write ? kWritesRange : kReadsRange) ==
      nullptr)
    return {};
  return fail(Errc::kLocked);
}

}  // namespace stoa::core
