// The caching leases of the table: granted, recalled to a level, answered, revoked, and the gate that they are.
#include "core/state/state_table.h"

#include "base/assert.h"
#include "base/log.h"

namespace stoa::core {

RecallReason VolumeState::recall_for(Modes asked) {
  constexpr Modes kLooking = kLooks | kOpenReads | kOpenDeletes | kLockShared;
  if ((asked & kTakesName) != 0) return RecallReason::kName;
  return (asked & ~kLooking) == 0 ? RecallReason::kLook : RecallReason::kChange;
}

void VolumeState::pause(Shard& shard, FileId id, RecallReason why, StateClock::time_point now) {
  Pause& pause = pause_of(shard, id);
  if (pause.file != id) pause = {.file = id};
  pause.since[static_cast<std::size_t>(why)] = now;
}

std::uint32_t VolumeState::paused_bits(Shard& shard, FileId id, HolderId holder, LeaseKind kind,
                                       StateClock::time_point now) const {
  const Pause& pause = pause_of(shard, id);
  if (pause.file != id) return kLeaseNone;
  const LeaseTerms& terms = holders_.terms(holder);
  const auto within = [&](RecallReason why, StateClock::duration length) {
    const auto since = pause.since[static_cast<std::size_t>(why)];
    return since && now - *since < length;
  };
  if (within(RecallReason::kChange, terms.pause_after_change)) return kAllCaching;
  if (within(RecallReason::kName, terms.pause_after_name_change)) return kAllCaching;
  if (!within(RecallReason::kLook, terms.pause_after_look)) return kLeaseNone;
  // Somebody looks: only what is written is in the way. A delegation goes and comes as a whole.
  return kind == LeaseKind::kDelegation ? kAllCaching : kWriteCaching;
}

void VolumeState::count_bits(std::uint32_t bits, std::int64_t more) {
  const std::int64_t writing = (bits & kWriteCaching) != 0 ? write_leases_.fetch_add(more) + more : 0;
  const std::int64_t handles = (bits & kHandleCaching) != 0 ? handle_leases_.fetch_add(more) + more : 0;
  STOA_ASSERT(writing >= 0, "no more leases for writing end than began");
  STOA_ASSERT(handles >= 0, "no more leases of handles end than began");
}

void VolumeState::wake_if_clear(FileState& file) {
  if (file.recall_waits.empty() || file.leases.awaited_until(options_.now())) return;
  const auto woken = static_cast<std::int64_t>(file.recall_waits.size());
  const std::int64_t before = recall_waits_.fetch_sub(woken);
  STOA_ASSERT(before >= woken, "no more waits for recalls end than began");
  const std::lock_guard lock(recalls_mutex_);
  for (FileState::Waiting& waiting : file.recall_waits) due_clear_.push_back(std::move(waiting.clear));
  file.recall_waits.clear();
  recalls_due_.store(true, std::memory_order_release);
}

bool VolumeState::recall_leases(Shard& shard, FileId id, FileState& file, RecallReason why, FileId subject,
                                const std::function<std::uint32_t(const Lease&)>& left) {
  const auto now = options_.now();
  bool found = false;
  bool revoked = false;
  std::vector<LeaseId> withdrawn;
  file.leases.each([&](Lease& lease) {
    if (lease.revoked) return;
    const std::uint32_t keeps = left(lease);
    if (keeps == lease.bits) return;
    STOA_ASSERT((keeps & ~lease.bits) == 0, "a recall leaves some of the bits that there are");
    STOA_ASSERT(keeps == kLeaseNone || valid_bits(keeps), "write caching comes with read caching");
    if (lease.tentative) {
      withdrawn.push_back(lease.id);
      return;
    }
    if (lease.lapsed(now)) {
      lease.revoked = revoked = true;
      revocations_.add();
      log_warning(
          "state", "a lease was not returned in time and is revoked",
          {{"file", static_cast<std::uint64_t>(id)}, {"holder", static_cast<std::uint64_t>(lease.owner.holder)}});
      return;
    }
    found = true;
    // One recall at a time: a remaining conflict is recalled by the next request that meets it.
    if (lease.recalled) return;
    lease.recalled = now;
    lease.keeps = keeps;
    pause(shard, id, why, now);
    recalls_.add();
    const std::lock_guard lock(recalls_mutex_);
    due_.push_back({lease.owner.holder, lease.id, id, keeps, why, subject});
    recalls_due_.store(true, std::memory_order_release);
  });
  // The caller holds a reference to `file`, so it stays here even when it is empty.
  for (const LeaseId lease : withdrawn) {
    pause(shard, id, why, now);
    const auto gone = file.leases.remove(lease);
    forget_lease(shard, *gone);
  }
  if (revoked) wake_if_clear(file);
  return found;
}

Status VolumeState::ask_leases(Shard& shard, FileId id, FileState& file, const LeaseOwner& owner, Modes asked) {
  if (file.leases.empty()) return {};
  const Modes bad = conflicts_with(asked);
  const bool pending = recall_leases(shard, id, file, recall_for(asked), id, [&](const Lease& lease) {
    if (lease.kind == LeaseKind::kFiles) {
      // Of the directory itself it keeps no writes, and no opens matter to it.
      const Modes of_directory = conflicts_with(asked & (kChanges | kTakesName));
      return lease.owner.holder == owner.holder ? lease.bits : bits_beside(lease.bits, lease.kind, of_directory);
    }
    return lease.owner == owner ? lease.bits : bits_beside(lease.bits, lease.kind, bad);
  });
  return pending ? recall_pending(id) : Status{};
}

bool VolumeState::handle_caching_in_the_way(Shard& shard, FileId id, FileState& file, const LeaseOwner& owner,
                                            Modes asked) {
  if (file.leases.empty()) return false;
  return recall_leases(shard, id, file, recall_for(asked), id, [&](const Lease& lease) -> std::uint32_t {
    const bool in_the_way = lease.owner != owner && (file.shares.modes_of(lease.owner) & conflicts_with(asked)) != 0;
    return in_the_way ? bits_beside(lease.bits, lease.kind, kLeaseHandle) : lease.bits;
  });
}

Modes VolumeState::held_by_others(const FileState& file, const LeaseOwner& owner, LeaseKind kind,
                                  StateClock::time_point now) {
  Modes others = 0;
  file.leases.each([&](const Lease& other) {
    const bool of_files = kind == LeaseKind::kFiles || other.kind == LeaseKind::kFiles;
    const bool mine = of_files ? other.owner.holder == owner.holder : other.owner == owner;
    if (!mine && !other.lapsed(now)) others |= other.modes();
  });
  if (kind == LeaseKind::kFiles) return others;
  // POSIX locks belong to a holder without a key.
  const HolderId locker = owner.key == LeaseKey{} ? owner.holder : kNoHolder;
  return others | file.shares.modes_of_others(owner) | file.locks.modes_of_others(locker) |
         file.mandatory.modes_of_others(owner);
}

std::optional<GrantedLease> VolumeState::add_bits(Shard& shard, FileId id, FileState& file, Lease& lease,
                                                  const LeaseRequest& wanted, Modes around) {
  const auto now = options_.now();
  if (lease.tentative || lease.lapsed(now) || lease.kind == LeaseKind::kDelegation || wanted.kind != lease.kind) {
    return std::nullopt;
  }
  if (!lease.recalled) {
    const Modes others =
        around | (lease.kind == LeaseKind::kFiles ? held_of_files(id, &file, lease.owner, now)
                                                  : held_by_others(file, lease.owner, lease.kind, now));
    const std::uint32_t free = wanted.bits & ~paused_bits(shard, id, lease.owner.holder, lease.kind, now);
    const std::uint32_t both = lease.bits | free;
    const std::uint32_t more =
        valid_bits(both) ? bits_beside(both, lease.kind, conflicts_with(others)) & ~lease.bits : kLeaseNone;
    if (valid_bits(lease.bits | more)) {
      count_bits(more, +1);
      lease.bits |= more;
      covered_.has(id, lease.owner, lease.bits);
    }
  }
  return GrantedLease{lease.id, lease.bits};
}

void VolumeState::add_lease(Shard& shard, FileId id, Lease lease) {
  const auto timeout = holders_.terms(lease.owner.holder).recall_timeout;
  lease.recall_timeout = timeout ? *timeout : options_.lease_recall_timeout;
  count_bits(lease.bits, +1);
  if (lease.kind == LeaseKind::kFiles) files_leases_.fetch_add(1);
  shard.files[id].leases.add(lease);
  if (lease.kind != LeaseKind::kFiles) covered_.has(id, lease.owner, lease.bits);
  const bool added = shard.leases.emplace(lease.id, id).second;
  STOA_ASSERT(added, "no number of a lease is given twice");
  const bool held = shard.holdings[lease.owner.holder].leases.insert(lease.id).second;
  STOA_ASSERT(held, "a lease is its holder's once");
  holders_.count(lease.owner.holder, 1);
}

std::vector<FileId> VolumeState::files_with_cached_writes() const {
  std::vector<FileId> files;
  if (write_leases_.load() == 0) return files;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [lease, file] : shard.leases) {
      const Lease* const held = shard.files.at(file).leases.find(lease);
      if ((held->bits & kWriteCaching) != 0 && !held->revoked) files.push_back(file);
    }
  }
  return files;
}

std::optional<GrantedLease> VolumeState::grant_lease(FileId id, const LeaseOwner& owner, const LeaseRequest& wanted) {
  auto granted = grant_wished(id, owner, wanted);
  // Asked when the lease is in the table: a seal that comes later recalls it.
  if (!granted || (granted->bits & kWriteCaching) == 0 || files_.may_cache_writes(id)) return granted;
  granted->bits &= ~kWriteCaching;
  if (granted->bits != kLeaseNone && acknowledge(granted->id, granted->bits)) return granted;
  return_lease(granted->id);
  return std::nullopt;
}

std::optional<GrantedLease> VolumeState::grant_wished(FileId id, const LeaseOwner& owner, LeaseRequest wanted) {
  if (!valid_bits(wanted.bits) || !holders_.alive(owner.holder)) return std::nullopt;
  if (wanted.reclaim) {
    // Too late: others may have looked and changed meanwhile, so what was kept under it is not to be believed.
    if (!reclaim_.in_grace() || !awaits_writers()) return std::nullopt;
  } else if (awaits_writers()) {
    return std::nullopt;
  }
  const auto place = files_.place(id);
  if (!place || (wanted.kind == LeaseKind::kFiles && !place->is_directory)) return std::nullopt;
  if (wanted.kind == LeaseKind::kFiles) {
    const FilesLeaseAnnounced announced(*this);
    return grant_beside(id, owner, wanted, 0);
  }
  if (place->is_directory) return grant_beside(id, owner, wanted, 0);
  covered_.pin(id, owner, wanted.bits, place->directories);
  const auto granted = grant_beside(id, owner, wanted, files_leases_beside(id, owner, *place));
  covered_.unpin(id, owner);
  return granted;
}

std::optional<GrantedLease> VolumeState::grant_beside(FileId id, const LeaseOwner& owner, const LeaseRequest& wanted,
                                                      Modes around) {
  Shard& shard = shard_of(id);
  GrantedLease granted{.id = {}, .bits = wanted.bits};
  {
    const std::lock_guard lock(shard.mutex);
    if (!holders_.alive(owner.holder)) return std::nullopt;
    const auto now = options_.now();
    const auto found = shard.files.find(id);
    const FileState* const file = found == shard.files.end() ? nullptr : &found->second;
    if (file != nullptr) {
      if (file->doomed) return std::nullopt;
      if (Lease* const mine = found->second.leases.of(owner)) {
        return add_bits(shard, id, found->second, *mine, wanted, around);
      }
    }
    const Modes others = around | (wanted.kind == LeaseKind::kFiles ? held_of_files(id, file, owner, now)
                                   : file != nullptr                ? held_by_others(*file, owner, wanted.kind, now)
                                                                    : 0);
    // Modes conflict symmetrically, so the bits to leave out are those that modes of others conflict with.
    granted.bits = bits_beside(wanted.bits, wanted.kind, conflicts_with(others)) &
                   ~paused_bits(shard, id, owner.holder, wanted.kind, now);
    if (!valid_bits(granted.bits)) return std::nullopt;
    if (!take_leases(owner.holder, 1)) return std::nullopt;
    granted.id = LeaseId{new_id(shard, id)};
    add_lease(shard, id, {.id = granted.id, .owner = owner, .bits = granted.bits, .kind = wanted.kind});
  }
  // A change that asked the gate before the lease existed may be in progress. Once the file is quiesced it is done, and
  // later changes meet the lease. A change in between has removed it again.
  const bool quiesced = files_.quiesced(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  Lease* const mine = found == shard.files.end() ? nullptr : found->second.leases.find(granted.id);
  if (mine == nullptr) return std::nullopt;
  if (!quiesced) {
    end_lease(shard, granted.id);
    return std::nullopt;
  }
  mine->tentative = false;
  return granted;
}

void VolumeState::forget_lease(Shard& shard, const Lease& gone) {
  const auto known = shard.leases.find(gone.id);
  STOA_ASSERT(known != shard.leases.end(), "a lease of a file is in the index");
  if (gone.kind == LeaseKind::kFiles) {
    files_leases_.fetch_sub(1);
  } else {
    covered_.ended(known->second, gone.owner);
  }
  shard.leases.erase(known);
  const std::size_t held = shard.holdings[gone.owner.holder].leases.erase(gone.id);
  STOA_ASSERT(held == 1, "a lease is its holder's");
  forget_if_empty(shard, gone.owner.holder);
  holders_.count(gone.owner.holder, -1);
  (void)take_leases(gone.owner.holder, -1);
  count_bits(gone.bits, -1);
}

void VolumeState::end_lease(Shard& shard, LeaseId lease) {
  const auto found = shard.leases.find(lease);
  if (found == shard.leases.end()) return;
  const FileId id = found->second;
  FileState& file = shard.files.at(id);
  const auto gone = file.leases.remove(lease);
  STOA_ASSERT(gone.has_value(), "a lease in the index is its file's");
  forget_lease(shard, *gone);
  wake_if_clear(file);
  forget_if_empty(shard, id);
}

Status VolumeState::acknowledge(LeaseId lease, std::uint32_t bits) {
  Shard& shard = shard_of(lease);
  FileId id = kNoFile;
  bool waited_for = false;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.leases.find(lease);
    if (found == shard.leases.end()) return fail(Errc::kInvalid, "no such lease");
    id = found->second;
    FileState& file = shard.files.at(id);
    waited_for = file.waited_for;
    if (bits == kLeaseNone) {
      end_lease(shard, lease);
    } else {
      Lease& mine = *file.leases.find(lease);
      STOA_ASSERT(!mine.recalled || (mine.keeps & ~mine.bits) == 0, "a recall leaves some of the bits that there are");
      if (mine.lapsed(options_.now())) return fail(Errc::kTimeout, "the lease is revoked");
      const std::uint32_t most = mine.recalled ? mine.keeps : mine.bits;
      if ((bits & ~most) != 0 || !valid_bits(bits) || mine.kind == LeaseKind::kDelegation) {
        return fail(Errc::kInvalid, "more of a lease than is left of it");
      }
      count_bits(mine.bits & ~bits, -1);
      mine.bits = bits;
      mine.recalled.reset();
      if (mine.kind != LeaseKind::kFiles) covered_.has(id, mine.owner, bits);
      wake_if_clear(file);
    }
  }
  send_recalls();
  if (waited_for) serve_waits(id);
  return {};
}

bool VolumeState::lease_revoked(LeaseId lease) const {
  const Shard& shard = shard_of(lease);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.leases.find(lease);
  if (found == shard.leases.end()) return false;
  return shard.files.at(found->second).leases.find(lease)->lapsed(options_.now());
}

Status VolumeState::break_leases(const OpContext& ctx, std::span<const Touched> files, Access access) {
  if (access == Access::kChange) STOA_CHECK_OK(check_fence(ctx));
  const bool changes = access == Access::kChange || access == Access::kChanged;
  const Modes asked = changes ? kChanges : access == Access::kTakeName ? kTakesName : kLooks;
  // The core's own work does not wait for writers of before a restart: it must not hold up the start.
  const bool waits = access != Access::kTakeName && access != Access::kChanged && ctx.protocol != Protocol::kInternal;
  const bool covered = access != Access::kTakeName && files_leases_.load(std::memory_order_relaxed) != 0;
  Status may;
  for (const Touched& touched : files) {
    const FileId id = touched.file;
    // Clients cache directories, too, but write only files.
    if (waits && (changes || !touched.is_directory) && awaits_writers() && !ctx.reclaims &&
        !writes_by_itself(ctx, touched)) {
      may = recall_pending(id);
    }
    if (covered && access == Access::kSeal) {
      if (const Status clear = ask_files_leases(id, id, ctx.holder, asked); !clear) may = clear;
    }
    if (covered && touched.directory != kNoFile) {
      if (const Status clear = ask_files_leases(touched.directory, id, ctx.holder, asked); !clear) may = clear;
    }
    if (access == Access::kChanged) continue;
    Shard& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.files.find(id);
    if (found == shard.files.end()) continue;
    if (Status clear = ask_leases(shard, id, found->second, {ctx.holder, ctx.lease_key}, asked); !clear) may = clear;
    forget_if_empty(shard, id);
  }
  return may;
}

void VolumeState::call_holders() {
  std::vector<LeaseRecall> due;
  std::vector<std::function<void()>> clear;
  {
    const std::lock_guard lock(recalls_mutex_);
    due.swap(due_);
    clear.swap(due_clear_);
    recalls_due_.store(false, std::memory_order_relaxed);
  }
  for (const LeaseRecall& recall : due) {
    holders_.tell(recall.holder, [&](HolderEvents& events) { events.lease_recalled(recall); });
  }
  for (const auto& wake : clear) wake();
}

}  // namespace stoa::core
