// Files leases: leases of a directory that cover its files, as far as they differ from leases of one file. Also the
// fence of changes that were cached under a lease, and the wait for writers after a restart.
//
// What is compared with what:
// - A change or look names the directory that covers the file (Touched). It is asked under the node's lock, so the
//   answer is of the moment of the change.
// - Leases of files are compared through covered_leases.h. Opens and byte-range locks that others have already are not:
//   each of their accesses passes the gate by itself, and files leases hold no locks. But an open that denies something
//   forbids what the holder of handle caching would do by itself, and mandatory locks forbid reading from a cache:
//   while there are any, wherever, files leases are granted without.
#include "base/assert.h"
#include "core/state/state_table.h"

namespace stoa::core {
namespace {

// A file that is gone is nowhere: the operation itself finds that. One with very many names is covered by none of them.
Result<FileWatch::Place> place_of(FileWatch& files, FileId id) {
  auto place = files.place(id);
  const bool nowhere = !place && (place.error().code == Errc::kStale || place.error().code == Errc::kTooManyLinks);
  return nowhere ? FileWatch::Place{} : std::move(place);
}

}  // namespace

Modes VolumeState::held_of_files(FileId id, const FileState* file, const LeaseOwner& owner,
                                 StateClock::time_point now) const {
  Modes others = covered_.below(id, owner.holder);
  if (file != nullptr) others |= held_by_others(*file, owner, LeaseKind::kFiles, now);
  if (denying_opens_.load() != 0) others |= kTakesName;  // which conflicts with handle caching alone
  if (mandatory_locks_.load() != 0) others |= kLockExclusive;
  return others;
}

Modes VolumeState::files_leases_beside(FileId, const LeaseOwner& owner, const FileWatch::Place& place) {
  // The lease is pinned: files leases that come later meet it.
  if (place.covering() == kNoFile || files_leases_.load() == 0) return 0;
  const Shard& shard = shard_of(place.covering());
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(place.covering());
  if (found == shard.files.end()) return 0;
  const auto now = options_.now();
  Modes others = 0;
  found->second.leases.each([&](const Lease& lease) {
    const bool in_the_way = lease.kind == LeaseKind::kFiles && lease.owner.holder != owner.holder && !lease.lapsed(now);
    if (in_the_way) others |= lease.modes();
  });
  return others;
}

Status VolumeState::ask_files_leases(FileId directory, FileId subject, HolderId holder, Modes asked) {
  Shard& shard = shard_of(directory);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.files.find(directory);
  if (found == shard.files.end() || found->second.leases.empty()) return {};
  constexpr Modes kDenies = kOpenDeniesRead | kOpenDeniesWrite | kOpenDeniesDelete;
  // The holder opens files by itself: that has to be known before somebody may forbid it.
  const Modes bad = conflicts_with(asked) | ((asked & kDenies) != 0 ? kLeaseHandle : 0u);
  const bool pending =
      recall_leases(shard, directory, found->second, recall_for(asked), subject, [&](const Lease& lease) {
        if (lease.kind != LeaseKind::kFiles || lease.owner.holder == holder) return lease.bits;
        return bits_beside(lease.bits, lease.kind, bad);
      });
  forget_if_empty(shard, directory);
  return pending ? recall_pending(directory) : Status{};
}

Status VolumeState::ask_files_leases(FileId subject, HolderId holder, Modes asked) {
  if (asked == 0 || files_leases_.load() == 0) return {};
  STOA_TRY(place, place_of(files_, subject));
  if (place.covering() == kNoFile) return {};
  return ask_files_leases(place.covering(), subject, holder, asked);
}

Status VolumeState::ask_files_leases(OpenId open, Modes asked) {
  if (files_leases_.load() == 0) return {};
  FileId file = kNoFile;
  HolderId holder = kNoHolder;
  {
    Shard& shard = shard_of(open);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.opens.find(open);
    if (found == shard.opens.end()) return fail(Errc::kInvalid, "no such open");
    file = found->second.file;
    holder = found->second.owner.holder;
  }
  return ask_files_leases(file, holder, asked);
}

Status VolumeState::check_fence(const OpContext& ctx) const {
  if (!ctx.cached_under) return {};
  const Shard& shard = shard_of(*ctx.cached_under);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.leases.find(*ctx.cached_under);
  if (found == shard.leases.end()) return fail(Errc::kLeaseLost);
  const Lease& lease = *shard.files.at(found->second).leases.find(*ctx.cached_under);
  const bool writes = lease.owner.holder == ctx.holder && !lease.tentative && (lease.bits & kWriteCaching) != 0;
  return writes && !lease.lapsed(options_.now()) ? Status{} : fail(Errc::kLeaseLost);
}

void VolumeState::follow_name(FileId file, FileId directory) {
  covered_.named_in(file, directory);
}

Status VolumeState::before_read(const OpContext& ctx, FileId file) {
  if (!asks_of_looks()) return {};
  STOA_TRY(place, place_of(files_, file));
  const Touched touched{.file = file, .directory = place.covering(), .is_directory = place.is_directory};
  const Status may = before_look(ctx, touched);
  send_recalls();
  return may;
}

// --- after a restart

bool VolumeState::writes_by_itself(const OpContext& ctx, const Touched& touched) const {
  if (ctx.holder == kNoHolder) return false;
  const auto writes = [&](FileId id) {
    const Shard& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.files.find(id);
    if (found == shard.files.end()) return false;
    bool any = false;
    found->second.leases.each([&](const Lease& lease) {
      any = any || (lease.owner.holder == ctx.holder && !lease.tentative && (lease.bits & kWriteCaching) != 0 &&
                    !lease.lapsed(options_.now()));
    });
    return any;
  };
  return writes(touched.file) || (touched.directory != kNoFile && writes(touched.directory));
}

bool VolumeState::awaits_writers() {
  if (!awaits_writers_.load(std::memory_order_acquire)) return false;
  if (reclaim_.awaits_writers()) return true;
  writers_are_back();
  return false;
}

void VolumeState::writers_are_back() {
  const std::lock_guard lock(recalls_mutex_);
  if (!awaits_writers_.exchange(false)) return;
  const auto woken = static_cast<std::int64_t>(writer_waits_.size());
  const std::int64_t before = recall_waits_.fetch_sub(woken);
  STOA_ASSERT(before >= woken, "no more waits for writers end than began");
  for (FileState::Waiting& waiting : writer_waits_) due_clear_.push_back(std::move(waiting.clear));
  writer_waits_.clear();
  recalls_due_.store(true, std::memory_order_release);
}

void VolumeState::reclaim_done(Protocol protocol, std::string_view name) {
  reclaim_.done(protocol, name);
  (void)awaits_writers();
  send_recalls();
}

Status VolumeState::forget_client(Protocol protocol, std::string_view name) {
  const Status forgotten = reclaim_.forget(protocol, name);
  (void)awaits_writers();
  send_recalls();
  return forgotten;
}

}  // namespace stoa::core
