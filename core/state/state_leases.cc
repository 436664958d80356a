// The caching leases of the table: granted, recalled, revoked, and the gate before whoever is in their way.
#include "core/state/state_table.h"

#include "base/log.h"

namespace stoa::core {

template <class Wanted>
bool VolumeState::recall_leases(Shard& shard, FileId id, FileState& file, Wanted wanted) {
  const auto now = options_.now();
  bool found = false;
  std::vector<LeaseId> withdrawn;
  file.leases.each([&](Lease& lease) {
    if (lease.revoked || !wanted(lease)) return;
    if (lease.tentative) {
      withdrawn.push_back(lease.id);
      return;
    }
    if (lease.lapsed(now, options_.lease_recall_timeout)) {
      lease.revoked = true;
      revocations_.add();
      log_warning("state", "a lease was not returned in time and is revoked",
                  {{"file", static_cast<std::uint64_t>(id)}, {"holder", static_cast<std::uint64_t>(lease.holder)}});
      return;
    }
    found = true;
    if (lease.recalled) return;
    lease.recalled = now;
    pause_of(shard, id) = {id, now};
    recalls_.add();
    const std::lock_guard lock(recalls_mutex_);
    due_.push_back({lease.holder, lease.id, id});
    recalls_due_.store(true, std::memory_order_release);
  });
  // The caller holds on to `file`, so it is not forgotten here when it is empty.
  for (const LeaseId lease : withdrawn) {
    pause_of(shard, id) = {id, now};
    const auto gone = file.leases.remove(lease);
    shard.leases.erase(lease);
    shard.holdings[gone->holder].leases.erase(lease);
    forget_if_empty(shard, gone->holder);
    holders_.count(gone->holder, -1);
    (void)take_leases(gone->holder, -1);
    if (gone->kind == LeaseKind::kWrite) write_leases_.fetch_sub(1);
    if (gone->kind == LeaseKind::kHandle) handle_leases_.fetch_sub(1);
  }
  return found;
}

bool VolumeState::lease_in_the_way(Shard& shard, FileId id, FileState& file, HolderId holder, Facets asked) {
  if (file.leases.empty()) return false;
  return recall_leases(shard, id, file, [&, bad = against(asked)](const Lease& lease) {
    return lease.holder != holder && (facet_of_lease(lease.kind) & bad) != 0;
  });
}

bool VolumeState::handle_lease_in_the_way(Shard& shard, FileId id, FileState& file, HolderId holder, Facets asked) {
  if (file.leases.empty()) return false;
  return recall_leases(shard, id, file, [&](const Lease& lease) {
    return lease.kind == LeaseKind::kHandle && lease.holder != holder &&
           (file.shares.facets_of(lease.holder) & against(asked)) != 0;
  });
}

std::optional<LeaseId> VolumeState::grant_lease(FileId id, HolderId holder, LeaseKind kind) {
  Shard& shard = shard_of(id);
  LeaseId lease{};
  {
    const std::lock_guard lock(shard.mutex);
    if (!holders_.alive(holder)) return std::nullopt;
    const Pause& pause = pause_of(shard, id);
    const auto now = options_.now();
    if (pause.file == id && now - pause.since < kLeasePause) return std::nullopt;
    if (const auto found = shard.files.find(id); found != shard.files.end()) {
      const FileState& file = found->second;
      if (file.leases.of(holder, kind == LeaseKind::kHandle) != nullptr) return std::nullopt;
      Facets others = file.shares.facets_of_others(holder) | file.locks.facets_of_others(holder) |
                      file.mandatory.facets_of_others(holder);
      file.leases.each([&](const Lease& other) {
        if (!other.lapsed(now, options_.lease_recall_timeout)) others |= facet_of_lease(other.kind);
      });
      if ((others & against(facet_of_lease(kind))) != 0) return std::nullopt;
    }
    if (!take_leases(holder, 1)) return std::nullopt;
    if (kind == LeaseKind::kWrite) write_leases_.fetch_add(1);
    if (kind == LeaseKind::kHandle) handle_leases_.fetch_add(1);
    lease = LeaseId{new_id(shard)};
    shard.files[id].leases.add({.id = lease, .holder = holder, .kind = kind});
    shard.leases.emplace(lease, id);
    shard.holdings[holder].leases.insert(lease);
    holders_.count(holder, 1);
  }
  // A change that asked the gate before the lease was there may be under way. Once the file is settled it is done, and
  // whatever comes later meets the lease; what came in between has taken it away again.
  const bool settled = files_.settled(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  Lease* const mine = found == shard.files.end() ? nullptr : found->second.leases.find(lease);
  if (mine == nullptr) return std::nullopt;
  if (!settled) {
    end_lease(shard, lease);
    return std::nullopt;
  }
  mine->tentative = false;
  return lease;
}

void VolumeState::end_lease(Shard& shard, LeaseId lease) {
  const auto found = shard.leases.find(lease);
  if (found == shard.leases.end()) return;
  const FileId id = found->second;
  const auto gone = shard.files.at(id).leases.remove(lease);
  shard.leases.erase(found);
  shard.holdings[gone->holder].leases.erase(lease);
  forget_if_empty(shard, gone->holder);
  forget_if_empty(shard, id);
  holders_.count(gone->holder, -1);
  (void)take_leases(gone->holder, -1);
  if (gone->kind == LeaseKind::kWrite) write_leases_.fetch_sub(1);
  if (gone->kind == LeaseKind::kHandle) handle_leases_.fetch_sub(1);
  {
    const std::lock_guard lock(ended_mutex_);
    leases_ended_.fetch_add(1, std::memory_order_release);
  }
  lease_ended_.notify_all();
}

void VolumeState::wait_for_lease_end(std::uint64_t seen) {
  constexpr auto kMoment = std::chrono::milliseconds(50);
  std::unique_lock lock(ended_mutex_);
  lease_ended_.wait_for(lock, kMoment, [&] { return leases_ended() != seen; });
}

void VolumeState::return_lease(LeaseId lease) {
  Shard& shard = shard_of(lease);
  FileId id = kNoFile;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.leases.find(lease);
    if (found == shard.leases.end()) return;
    if (shard.files.at(found->second).waited_for) id = found->second;
    end_lease(shard, lease);
  }
  if (id != kNoFile) serve_waits(id);
}

bool VolumeState::lease_revoked(LeaseId lease) const {
  const Shard& shard = shard_of(lease);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.leases.find(lease);
  if (found == shard.leases.end()) return false;
  const Lease* const mine = shard.files.at(found->second).leases.find(lease);
  return mine->lapsed(options_.now(), options_.lease_recall_timeout);
}

std::optional<LeaseKind> VolumeState::lease_of(FileId id, HolderId holder) const {
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  if (found == shard.files.end()) return std::nullopt;
  const Lease* const lease = found->second.leases.of(holder, false);
  if (lease == nullptr || lease->tentative || lease->lapsed(options_.now(), options_.lease_recall_timeout)) {
    return std::nullopt;
  }
  return lease->kind;
}

Status VolumeState::before_read(const OpContext& ctx, FileId file) {
  const Status may = before_look(ctx, file);
  send_recalls();
  return may;
}

Status VolumeState::break_leases(const OpContext& ctx, std::span<const FileId> files, Access access) {
  const Facets asked = access == Access::kChange ? kChanges : access == Access::kLook ? kLooks : kTakesName;
  bool pending = false;
  for (const FileId id : files) {
    Shard& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.files.find(id);
    if (found == shard.files.end()) continue;
    pending |= lease_in_the_way(shard, id, found->second, ctx.holder, asked);
    forget_if_empty(shard, id);
  }
  if (pending) return fail(Errc::kRecallPending);
  return {};
}

void VolumeState::call_holders() {
  std::vector<LeaseRecall> due;
  {
    const std::lock_guard lock(recalls_mutex_);
    due.swap(due_);
    recalls_due_.store(false, std::memory_order_relaxed);
  }
  for (const LeaseRecall& recall : due)
    holders_.tell(recall.holder, [&](HolderEvents& events) { events.lease_recalled(recall); });
}

}  // namespace stoa::core
