#include "core/state/state_table.h"

#include "base/log.h"

namespace stoa::core {
namespace {

bool valid(std::uint32_t access, std::uint32_t deny) {
  return access != kShareNone && access <= kShareBoth && deny <= kShareBoth;
}

struct Count {
  std::atomic<std::int64_t>& held;
  std::int64_t max;
};

// All of them, or none.
Status take(std::initializer_list<Count> counts, std::int64_t more) {
  for (const Count* count = counts.begin(); count != counts.end(); ++count) {
    if (count->held.fetch_add(more, std::memory_order_relaxed) + more <= count->max || more <= 0) continue;
    for (const Count* taken = counts.begin(); taken <= count; ++taken) taken->held.fetch_sub(more, std::memory_order_relaxed);
    return fail(Errc::kBusy, "too many opens, locks or leases");
  }
  return {};
}

}  // namespace

VolumeState::VolumeState(StateOptions options, FileWatch& files, KvStore& kv, Committer& committer,
                         MetricRegistry& metrics)
    : options_(std::move(options)),
      files_(files),
      reclaim_(kv, committer, options_.grace, options_.now),
      recalls_(metrics.counter("stoa_lease_recalls_total", "Caching leases that were recalled")),
      revocations_(metrics.counter("stoa_lease_revocations_total", "Leases that were not returned in time")) {
  const auto count = [&](std::string_view name, std::string_view help, const std::atomic<std::int64_t>& value) {
    metrics.gauge_callback(name, help, {}, [&value] { return static_cast<double>(value.load()); });
  };
  count("stoa_opens", "Open files of clients", opens_);
  count("stoa_byte_range_locks", "Byte-range locks that are held", locks_);
  count("stoa_leases", "Caching leases that are held", leases_);
  metrics.gauge_callback("stoa_byte_range_lock_waits", "Requests that wait for a byte-range lock", {}, [this] {
    const std::lock_guard lock(waits_mutex_);
    return static_cast<double>(waits_.size());
  });
  metrics.gauge_callback("stoa_state_holders", "Clients in the table of opens, locks and leases", {},
                         [this] { return static_cast<double>(holders_.size()); });
  metrics.gauge_callback("stoa_reclaim_clients", "Clients that may reclaim their state after a restart", {},
                         [this] { return static_cast<double>(reclaim_.size()); });
}

Status VolumeState::take_opens(HolderId holder, std::int64_t more) {
  return take({{holders_.own(holder).opens, options_.of_holder.opens},
               {holders_.of_peer(holder).opens, options_.of_peer.opens},
               {opens_, options_.opens_max}},
              more);
}

Status VolumeState::take_locks(HolderId holder, std::int64_t more) {
  return take({{holders_.own(holder).locks, options_.of_holder.locks},
               {holders_.of_peer(holder).locks, options_.of_peer.locks},
               {locks_, options_.locks_max}},
              more);
}

Status VolumeState::take_leases(HolderId holder, std::int64_t more) {
  return take({{holders_.own(holder).leases, options_.of_holder.leases},
               {holders_.of_peer(holder).leases, options_.of_peer.leases},
               {leases_, options_.leases_max}},
              more);
}

void VolumeState::forget_if_empty(Shard& shard, FileId id) {
  const auto it = shard.files.find(id);
  if (it != shard.files.end() && it->second.empty()) shard.files.erase(it);
}

void VolumeState::forget_if_empty(Shard& shard, HolderId holder) {
  const auto it = shard.holdings.find(holder);
  if (it != shard.holdings.end() && it->second.empty()) shard.holdings.erase(it);
}

// --- holders

HolderId VolumeState::add_holder(Door, std::function<void(LeaseId, FileId)> recall, std::string_view peer,
                                 std::function<void(const LockRequest&)> granted) {
  return holders_.add(std::move(recall), peer, std::move(granted));
}

void VolumeState::remove_holder(HolderId holder) {
  // Whoever adds to its holdings does so under a shard's mutex and looks whether it is alive: so none is missed.
  if (!holders_.retire(holder)) return;
  std::vector<FileId> closed;
  std::vector<FileId> waited_for;
  {
    const std::lock_guard lock(waits_mutex_);
    const std::size_t before = waits_.size();
    waited_for = waits_.remove(holder);
    holders_.count(holder, static_cast<std::int64_t>(waits_.size()) - static_cast<std::int64_t>(before));
  }
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.holdings.find(holder);
    if (found == shard.holdings.end()) continue;
    const Holdings gone = found->second;
    for (const OpenId open : gone.opens) {
      const FileId file = shard.opens.at(open).file;
      if (shard.files.at(file).waited_for) waited_for.push_back(file);
      if (end_open(shard, open)) closed.push_back(file);
    }
    for (const LeaseId lease : gone.leases) {
      const FileId id = shard.leases.at(lease);
      if (shard.files.at(id).waited_for) waited_for.push_back(id);
      end_lease(shard, lease);
    }
    for (const FileId id : gone.locked) {
      FileState& file = shard.files.at(id);
      if (file.waited_for) waited_for.push_back(id);
      end_locks(shard, id, file, holder, file.locks.remove(holder));
    }
  }
  holders_.remove(holder);
  for (const FileId file : waited_for) serve_waits(file);
  for (const FileId file : closed) files_.last_closed(file);
}

HeldCounts VolumeState::held_by(HolderId holder) const {
  if (!holders_.alive(holder)) return {};
  const Holders::Tally& mine = holders_.own(holder);
  return {mine.opens.load(), mine.locks.load(), mine.leases.load()};
}

// --- opens

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

Status VolumeState::may_open(Shard& shard, FileId id, FileState& file, HolderId holder, Facets asked, Facets others) {
  if ((others & against(asked)) != 0) {
    // It may be open for nobody any more.
    const bool pending = !file.leases.empty() && recall_leases(shard, id, file, [&](const Lease& lease) {
      return lease.kind == LeaseKind::kHandle && lease.holder != holder &&
             (file.shares.facets_of(lease.holder) & against(asked)) != 0;
    });
    return fail(pending ? Errc::kRecallPending : Errc::kShareConflict);
  }
  if (lease_in_the_way(shard, id, file, holder, asked)) return fail(Errc::kRecallPending);
  return {};
}

Result<OpenId> VolumeState::open(const OpenSpec& spec) {
  if (!valid(spec.access, spec.deny)) return fail(Errc::kInvalid, "access or deny of an open");
  const Facets facets = facets_of_open(spec.access, spec.deny);
  Shard& shard = shard_of(spec.file);
  auto opened = [&]() -> Result<OpenId> {
    const std::lock_guard lock(shard.mutex);
    if (!holders_.alive(spec.holder)) return fail(Errc::kInvalid, "no such holder");
    STOA_CHECK_OK(take_opens(spec.holder, 1));
    FileState& file = shard.files[spec.file];
    if (const Status may = may_open(shard, spec.file, file, spec.holder, facets, file.shares.facets()); !may) {
      (void)take_opens(spec.holder, -1);
      forget_if_empty(shard, spec.file);
      return fail(may.error());
    }
    const OpenId id{new_id(shard)};
    file.shares.add(spec.holder, facets);
    shard.opens.emplace(id, Open{spec.file, spec.holder, facets});
    shard.holdings[spec.holder].opens.insert(id);
    holders_.count(spec.holder, 1);
    return id;
  }();
  send_recalls();
  if (!opened) return opened;
  // The open is registered before the look at the file. An unlink asks keeps() with the file locked: when it asked before
  // we registered, the look comes after its commit and finds the file gone; when it asked later, it has kept the file.
  const auto nameless = files_.nameless(spec.file);
  if (!nameless) {
    close(*opened);
    return fail(nameless.error());
  }
  if (*nameless) {
    // Kept by an earlier open, perhaps one of before a restart: the last of all closes deletes it.
    const std::lock_guard lock(shard.mutex);
    const auto it = shard.files.find(spec.file);
    if (it != shard.files.end()) it->second.nameless = true;
  }
  return opened;
}

Status VolumeState::change_open(OpenId open, std::uint32_t access, std::uint32_t deny) {
  if (!valid(access, deny)) return fail(Errc::kInvalid, "access or deny of an open");
  const Facets facets = facets_of_open(access, deny);
  Shard& shard = shard_of(open);
  const auto changed = [&]() -> Status {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return fail(Errc::kInvalid, "no such open");
    Open& mine = found->second;
    FileState& file = shard.files.at(mine.file);
    file.shares.remove(mine.holder, mine.facets);
    const Status may = may_open(shard, mine.file, file, mine.holder, facets, file.shares.facets());
    if (may) mine.facets = facets;
    file.shares.add(mine.holder, mine.facets);
    return may;
  }();
  send_recalls();
  return changed;
}

bool VolumeState::end_open(Shard& shard, OpenId open) {
  const auto found = shard.opens.find(open);
  if (found == shard.opens.end()) return false;
  const Open gone = found->second;
  shard.opens.erase(found);
  shard.holdings[gone.holder].opens.erase(open);
  forget_if_empty(shard, gone.holder);
  holders_.count(gone.holder, -1);
  (void)take_opens(gone.holder, -1);
  FileState& file = shard.files.at(gone.file);
  end_mandatory(gone.holder, file.mandatory.remove(open));
  file.shares.remove(gone.holder, gone.facets);
  const bool last = file.shares.empty() && std::exchange(file.nameless, false);
  forget_if_empty(shard, gone.file);
  return last;
}

void VolumeState::close(OpenId open) {
  Shard& shard = shard_of(open);
  FileId mine = kNoFile;
  bool last = false;
  bool waited_for = false;
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return;
    mine = found->second.file;
    const FileState& file = shard.files.at(mine);
    waited_for = file.waited_for && !file.mandatory.empty();
    last = end_open(shard, open);
  }
  if (waited_for) serve_waits(mine);
  if (last) files_.last_closed(mine);
}

bool VolumeState::keeps(FileId id) {
  // Whoever had it open before the restart may come yet; what nobody reclaims is deleted when grace is over.
  const bool reclaimable = !reclaim_.grace_is_over();
  if (opens_.load(std::memory_order_relaxed) == 0) return reclaimable;
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  if (found == shard.files.end() || found->second.shares.empty()) return reclaimable;
  found->second.nameless = true;
  return true;
}

bool VolumeState::is_open(FileId id) const {
  if (opens_.load(std::memory_order_relaxed) == 0) return false;
  const Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(id);
  return found != shard.files.end() && !found->second.shares.empty();
}

// --- byte-range locks

Result<std::optional<HeldLock>> VolumeState::lock_in_the_way(Shard& shard, FileId id, FileState& file,
                                                             const LockOwner& owner, const ByteSpan& span,
                                                             bool exclusive) {
  // A holder of a lease may have locks that only it knows of: it tells of them before it returns the lease.
  if (lease_in_the_way(shard, id, file, owner.holder, facet_of_lock(exclusive))) return fail(Errc::kRecallPending);
  if (auto other = file.locks.in_the_way(owner, span, exclusive)) return other;
  const LockRange range = range_of(span);
  if (const MandatoryLock* const other = file.mandatory.in_the_way(kNoOpen, range, exclusive)) {
    return HeldLock{{other->holder, {}}, other->range, other->exclusive};
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
  if (shard.holdings[owner.holder].locked.insert(id).second) holders_.count(owner.holder, 1);
  return std::nullopt;
}

Result<std::optional<HeldLock>> VolumeState::lock(FileId id, const LockOwner& owner, LockRange range, bool exclusive) {
  STOA_TRY(span, span_of(range));
  Shard& shard = shard_of(id);
  bool waited_for = false;
  auto locked = [&]() -> Result<std::optional<HeldLock>> {
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

// --- mandatory byte-range locks

Result<std::optional<HeldLock>> VolumeState::lock_mandatory(OpenId open, LockRange range, bool exclusive) {
  STOA_CHECK_OK(check_mandatory_range(range));
  Shard& shard = shard_of(open);
  auto locked = [&]() -> Result<std::optional<HeldLock>> {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return fail(Errc::kInvalid, "no such open");
    const auto [id, holder, facets] = found->second;
    FileState& file = shard.files.at(id);
    if (lease_in_the_way(shard, id, file, holder, facet_of_lock(exclusive))) return fail(Errc::kRecallPending);
    if (const MandatoryLock* const other = file.mandatory.in_the_way(open, range, exclusive)) {
      return HeldLock{{other->holder, {}}, other->range, other->exclusive};
    }
    if (range.length != 0) {
      STOA_TRY(span, span_of(range));
      if (auto other = file.locks.in_the_way({holder, {}}, span, exclusive)) return other;
    }
    STOA_CHECK_OK(take_locks(holder, 1));
    file.mandatory.add({open, holder, range, exclusive});
    mandatory_locks_.fetch_add(1);
    return std::nullopt;
  }();
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
    end_mandatory(found->second.holder, 1);
    if (!file.waited_for) return {};
    id = found->second.file;
  }
  serve_waits(id);
  return {};
}

void VolumeState::end_mandatory(HolderId holder, std::size_t count) {
  (void)take_locks(holder, -static_cast<std::int64_t>(count));
  mandatory_locks_.fetch_sub(static_cast<std::int64_t>(count));
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

// --- waiting for byte-range locks

LockWait* VolumeState::add_wait(const LockRequest& wanted, const ByteSpan& span) {
  LockWait* const wait = waits_.add(wanted, span);
  if (wait == nullptr) return nullptr;
  Shard& shard = shard_of(wanted.file);
  const std::lock_guard lock(shard.mutex);
  shard.files[wanted.file].waited_for = true;
  holders_.count(wanted.owner.holder, 1);
  return wait;
}

std::vector<LockOwner> VolumeState::owners_in_the_way(const LockWait& wait) const {
  const Shard& shard = shard_of(wait.wanted.file);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(wait.wanted.file);
  if (found == shard.files.end()) return {};
  return found->second.locks.owners_in_the_way(wait.wanted.owner, wait.span, wait.wanted.exclusive);
}

Result<bool> VolumeState::lock_or_wait(const LockRequest& wanted) {
  STOA_TRY(span, span_of(wanted.range));
  const LockWaits::Holding holding = [this](const LockWait& wait) { return owners_in_the_way(wait); };
  News news;
  const auto answer = [&]() -> Result<bool> {
    const std::lock_guard lock(waits_mutex_);
    // Its holder is retired before its waits are removed, which this lock is needed for: none is added behind that.
    if (!holders_.alive(wanted.owner.holder)) return fail(Errc::kInvalid, "no such holder");
    LockWait* wait = waits_.find(wanted);
    if (wait == nullptr) wait = add_wait(wanted, span);
    if (wait == nullptr) return fail(Errc::kBusy, "too many wait for locks");
    wait->asking.reset();
    serve_waits(wanted.file, news);
    if (std::erase(news.granted, wanted) != 0) return true;
    if (waits_.is_deadlock(*wait, holding)) {
      holders_.count(wanted.owner.holder, -1);
      waits_.remove(wanted);
      serve_waits(wanted.file, news);
      return fail(Errc::kDeadlock);
    }
    // Who passes may be this very request.
    while (const LockWait* const passing = waits_.let_one_pass(*wait, holding)) {
      const FileId file = passing->wanted.file;
      serve_waits(file, news);
      if (std::erase(news.granted, wanted) != 0) return true;
    }
    return false;
  }();
  send_recalls();
  tell(news);
  return answer;
}

Result<std::optional<HeldLock>> VolumeState::take_in_turn(LockWait& wait) {
  const LockRequest& wanted = wait.wanted;
  Shard& shard = shard_of(wanted.file);
  const std::lock_guard lock(shard.mutex);
  FileState& file = shard.files[wanted.file];
  const LockWait* const before = LockWaits::whose_turn_before(*waits_.of(wanted.file), wait);
  if (before == nullptr) return take_lock(shard, wanted.file, file, wanted.owner, wait.span, wanted.exclusive);
  STOA_TRY(held, lock_in_the_way(shard, wanted.file, file, wanted.owner, wait.span, wanted.exclusive));
  if (held) return held;
  return HeldLock{before->wanted.owner, before->wanted.range, before->wanted.exclusive};
}

Result<std::optional<HeldLock>> VolumeState::lock_in_turn(const LockRequest& wanted, std::function<void()> turn) {
  STOA_TRY(span, span_of(wanted.range));
  Shard& shard = shard_of(wanted.file);
  bool in_turn = true;  // whether somebody waits, or has to from now on
  auto answer = [&]() -> Result<std::optional<HeldLock>> {
    const std::lock_guard lock(shard.mutex);
    if (!holders_.alive(wanted.owner.holder)) return fail(Errc::kInvalid, "no such holder");
    FileState& file = shard.files[wanted.file];
    if (file.waited_for) return std::nullopt;
    auto result = take_lock(shard, wanted.file, file, wanted.owner, span, wanted.exclusive);
    in_turn = result ? result->has_value() : result.error().code == Errc::kRecallPending;
    forget_if_empty(shard, wanted.file);
    return result;
  }();
  if (!in_turn || (!answer && answer.error().code != Errc::kRecallPending)) {
    send_recalls();
    return answer;
  }
  const LockWaits::Holding holding = [this](const LockWait& wait) { return owners_in_the_way(wait); };
  News news;
  answer = [&]() -> Result<std::optional<HeldLock>> {
    const std::lock_guard lock(waits_mutex_);
    if (!holders_.alive(wanted.owner.holder)) return fail(Errc::kInvalid, "no such holder");
    LockWait* wait = waits_.find(wanted);
    if (wait == nullptr) wait = add_wait(wanted, span);
    if (wait == nullptr) {
      auto result = [&] {
        const std::lock_guard shard_lock(shard.mutex);
        auto taken = take_lock(shard, wanted.file, shard.files[wanted.file], wanted.owner, span, wanted.exclusive);
        forget_if_empty(shard, wanted.file);
        return taken;
      }();
      if (result && !*result) serve_waits(wanted.file, news);
      return result;
    }
    const auto now = options_.now();
    const StateClock::duration away = wait->asking ? now - wait->asking->last : StateClock::duration{};
    const StateClock::duration place =
        turn ? kTurnAskedFor : std::clamp<StateClock::duration>(3 * away, kTurnCalled, kTurnAskedFor);
    wait->asking = {.last = now, .until = now + place};  // nobody has to call who is here
    serve_waits(wanted.file, news);
    while (const LockWait* const passing = waits_.let_one_pass(*wait, holding)) {
      const FileId file = passing->wanted.file;
      serve_waits(file, news);
    }
    auto result = take_in_turn(*wait);
    if (result ? result->has_value() : result.error().code == Errc::kRecallPending) {
      wait->asking->turn = std::move(turn);
      return result;
    }
    holders_.count(wanted.owner.holder, -1);
    waits_.remove(wanted);
    serve_waits(wanted.file, news);  // a downgrade gives something back, and others may have stood behind it
    return result;
  }();
  send_recalls();
  tell(news);
  return answer;
}

void VolumeState::serve_waits(FileId id, News& news) {
  LockWaits::Queue* const queue = waits_.of(id);
  if (queue == nullptr) return;
  const auto now = options_.now();
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  FileState& file = shard.files[id];
  // A lock that is granted may downgrade another one of its owner, which frees the way for an earlier wait.
  for (bool more = true; more;) {
    more = false;
    for (auto wait = queue->begin(); wait != queue->end();) {
      const LockRequest& wanted = wait->wanted;
      if (wait->asking && now >= wait->asking->until) {
        holders_.count(wanted.owner.holder, -1);
        wait = waits_.remove(*queue, wait);
        continue;
      }
      // What a lock keeps waiting need not have leases recalled yet.
      const bool kept = file.locks.in_the_way(wanted.owner, wait->span, wanted.exclusive).has_value() ||
                        file.mandatory.in_the_way(kNoOpen, wanted.range, wanted.exclusive) != nullptr ||
                        LockWaits::whose_turn_before(*queue, *wait) != nullptr;
      if (wait->asking) {
        if (!kept && wait->asking->turn) {
          wait->asking->until = std::min(wait->asking->until, now + kTurnCalled);
          news.turns.emplace_back(wanted.owner.holder, std::exchange(wait->asking->turn, nullptr));
        }
        ++wait;
        continue;
      }
      if (kept || !take_lock(shard, id, file, wanted.owner, wait->span, wanted.exclusive)) {
        ++wait;
        continue;
      }
      news.granted.push_back(wanted);
      holders_.count(wanted.owner.holder, -1);
      wait = waits_.remove(*queue, wait);
      more = true;
    }
  }
  if (queue->empty()) {
    waits_.drop(id);
    file.waited_for = false;
    forget_if_empty(shard, id);
  }
}

void VolumeState::serve_waits(FileId id) {
  News news;
  {
    const std::lock_guard lock(waits_mutex_);
    serve_waits(id, news);
  }
  send_recalls();
  tell(news);
}

void VolumeState::tell(const News& news) {
  for (const LockRequest& lock : news.granted) holders_.tell_granted(lock);
  for (const auto& [holder, turn] : news.turns) holders_.call(holder, turn);
}

void VolumeState::end_wait(const LockRequest& wanted) {
  const std::lock_guard lock(waits_mutex_);
  if (waits_.remove(wanted)) holders_.count(wanted.owner.holder, -1);
}

bool VolumeState::cancel_wait(const LockRequest& wanted) {
  {
    const std::lock_guard lock(waits_mutex_);
    if (!waits_.remove(wanted)) return false;
    holders_.count(wanted.owner.holder, -1);
  }
  serve_waits(wanted.file);  // others kept behind it
  return true;
}

void VolumeState::retry_waits() {
  std::vector<FileId> files;
  {
    const std::lock_guard lock(waits_mutex_);
    files = waits_.files();
  }
  for (const FileId file : files) serve_waits(file);
}

// --- leases

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
  std::vector<DueRecall> due;
  {
    const std::lock_guard lock(recalls_mutex_);
    due.swap(due_);
    recalls_due_.store(false, std::memory_order_relaxed);
  }
  for (const DueRecall& recall : due) holders_.recall(recall.holder, recall.lease, recall.file);
}

}  // namespace stoa::core
