#include "core/namespace/owner_count.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "core/inode/inode_usage.h"
#include "core/kv/keys.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "qos/background_throttle.h"

namespace stoa::core {
namespace {

constexpr std::size_t kPieceFiles = 4096;      // then requests get their share of the time
constexpr std::size_t kStepFiles = 256;        // counted under the exclusive tree lock: a fraction of a millisecond
constexpr std::uint64_t kStepIds = 4096;       // the same for ids whose files are gone
constexpr std::size_t kStepsMax = 64;          // of one piece
constexpr std::size_t kDirectoriesMax = 1000;  // that one walk is for

FileId charged_in(const Inode& record) {
  return record.charged_to != kNoFile ? record.charged_to : record.parent;
}

// The usage of a file and its owner; `promised` and `pending`: see growth.h and Node.
Status note_file(VolumeContext& volume, const Inode& record, const Usage& promised, const Usage& pending,
                 CountStep& reserved, CountStep& committed) {
  if (record.parent == kNoFile || record.has(kIsBin)) return {};
  STOA_TRY(account, volume.nodes.account_of(charged_in(record)));
  const bool user_bin = record.is_directory() && account->child_class == UsageClass::kRecycled;
  if (user_bin) return {};  // counts as nothing, as bins do
  const Usage usage = usage_of(record);
  const UsageClass of = record.charged_to != kNoFile ? UsageClass::kMultipart
                        : record.links == 0          ? UsageClass::kOrphans
                                                     : UsageClass::kLive;
  const ChargeTarget target{std::move(account), {record.uid, record.gid}, record.id, of};
  reserved.found.push_back({target, usage + promised});
  committed.found.push_back({target, usage + -pending});
  return {};
}

// The end of the next step. Reads from the disks all that the step will need, outside the lock.
Result<FileId> look_ahead(VolumeContext& volume, OwnerWalk& walk, std::size_t files_max) {
  const auto below = static_cast<std::uint64_t>(walk.at.below), from = static_cast<std::uint64_t>(walk.at.from);
  const FileId to{std::min(below + kStepIds, from)};
  std::size_t files = 0;
  const auto it = volume.kv.scan(Family::kInode, keys::id_key(walk.at.below), keys::id_key(to));
  for (; it->valid(); it->next()) {
    const FileId id = keys::id_of(it->key());
    if (files++ == files_max) return id;
    STOA_TRY(record, Inode::decode(id, it->value()));
    if (record.parent == kNoFile) continue;
    const auto account = volume.nodes.account_of(charged_in(record));
    // It may have moved since, and that directory be gone.
    if (!account && account.error().code != Errc::kStale) return fail(account.error());
  }
  STOA_CHECK_OK(it->status());
  return to;
}

Status count_step(VolumeContext& volume, OwnerWalk& walk, std::size_t files_max) {
  STOA_TRY(to, look_ahead(volume, walk, files_max));
  STOA_ASSERT(to > walk.at.below && to <= walk.at.from, "each step goes on, up to the files that came to be since");
  const std::lock_guard alone(volume.tree_lock);
  CountStep reserved{.files = walk.reserved}, committed{.files = walk.committed};
  CountedFiles after = walk.at;
  after.below = to;
  const auto it = volume.kv.scan(Family::kInode, keys::id_key(walk.at.below), keys::id_key(to));
  for (; it->valid(); it->next()) {
    const FileId id = keys::id_of(it->key());
    ++after.looked_at;
    if (const NodeRef node = volume.nodes.peek(id)) {
      const std::shared_lock lock(node->lock);
      STOA_CHECK_OK(note_file(volume, node->record, promised(*node), node->pending, reserved, committed));
    } else {
      STOA_TRY(record, Inode::decode(id, it->value()));
      STOA_CHECK_OK(note_file(volume, record, {}, {}, reserved, committed));
    }
  }
  STOA_CHECK_OK(it->status());
  reserved.after = committed.after = after;
  STOA_CHECK_OK(volume.committer.commit({.counted = std::make_unique<CountStep>(std::move(committed))}));
  volume.ledger.count(reserved);
  walk.at = after;
  return {};
}

// Null: no directory waits.
Result<std::unique_ptr<OwnerWalk>> begin_walk(VolumeContext& volume) {
  auto walk = std::make_unique<OwnerWalk>();
  const std::string prefix(keys::kCountingPrefix);
  const auto it = volume.kv.scan(Family::kConfig, prefix, keys::behind_prefix(prefix));
  for (; it->valid() && walk->accounts.size() < kDirectoriesMax; it->next()) {
    auto account = volume.nodes.account_of(keys::id_of(it->key().substr(prefix.size())));
    if (!account && account.error().code == Errc::kStale) continue;  // removed meanwhile
    STOA_CHECK_OK(account);
    walk->accounts.push_back(std::move(*account));
  }
  STOA_CHECK_OK(it->status());
  if (walk->accounts.empty()) return nullptr;
  const std::lock_guard alone(volume.tree_lock);
  STOA_TRY(from, volume.next_id());
  walk->at.from = from;
  const auto step = [&](const std::shared_ptr<CountedFiles>& files) {
    return CountStep{.files = files, .joining = walk->accounts, .found = {}, .after = walk->at};
  };
  STOA_CHECK_OK(volume.committer.commit({.counted = std::make_unique<CountStep>(step(walk->committed))}));
  volume.ledger.count(step(walk->reserved));
  return walk;
}

Status end_walk(VolumeContext& volume, const OwnerWalk& walk) {
  const OpContext ctx;
  std::vector<FileId> counted;
  {
    const std::lock_guard alone(volume.tree_lock);
    MetaTxn txn(volume, ctx);
    for (const AccountRef& account : walk.accounts) {
      // Else it is gone, or its owners are not to be counted any more, or were to be again, later than this walk began.
      if (!volume.ledger.counts_with(account, walk.reserved)) continue;
      txn.change_account({.account = account, .owners = OwnersCounted::kYes});
      txn.note({.kind = ChangeKind::kQuota, .id = account->dir});
      counted.push_back(account->dir);
    }
    if (!counted.empty()) STOA_CHECK_OK(txn.commit());
  }
  for (const FileId dir : counted) {
    auto path = path_of(volume, ctx, {.id = dir});
    if (!path && path.error().code == Errc::kStale) continue;  // removed meanwhile
    STOA_CHECK_OK(path);
    log_info("quota", "users and groups are counted", {{"path", path->path}});
    volume.events.add(Severity::kInfo, EventKind::kOwnersCounted, std::move(path->path));
  }
  return {};
}

}  // namespace

Result<std::optional<std::uint64_t>> count_more_owners(VolumeContext& volume, std::size_t files_max) {
  OwnerCount& count = volume.owner_count;
  const std::lock_guard lock(count.mutex);
  if (count.walk == nullptr) {
    if (!count.request.take()) return std::nullopt;
    auto begun = begin_walk(volume);
    if (begun && *begun == nullptr) return std::nullopt;
    count.request.make();  // others may wait for the end of this one
    if (!begun) return fail(begun.error());
    count.walk = std::move(*begun);
  }
  OwnerWalk& walk = *count.walk;
  const std::uint64_t begin = walk.at.looked_at;
  const std::uint64_t end = begin + files_max;
  for (std::size_t step = 0; walk.at.below < walk.at.from; ++step) {
    if (walk.at.looked_at >= end || step == kStepsMax) return walk.at.looked_at - begin;
    STOA_CHECK_OK(count_step(volume, walk, std::min<std::uint64_t>(kStepFiles, end - walk.at.looked_at)));
  }
  STOA_CHECK_OK(end_walk(volume, walk));
  const std::uint64_t looked_at = walk.at.looked_at - begin;
  count.walk.reset();
  return looked_at;
}

Status count_all_owners(VolumeContext& volume, qos::BackgroundThrottle& throttle) {
  while (!throttle.stopped()) {
    STOA_TRY(looked_at, count_more_owners(volume, kPieceFiles));
    if (!looked_at) break;
    throttle.spent(qos::Price{}.add(qos::Resource::kMetadataOps, *looked_at));
  }
  return {};
}

}  // namespace stoa::core
