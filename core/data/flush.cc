#include "core/data/flush.h"

#include "base/assert.h"
#include "base/log.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/gc.h"
#include "core/data/live_sums.h"
#include "core/data/placement.h"
#include "core/txn/meta_txn.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

constexpr std::size_t kAskedExtentsMax = 64;  // of more, the space is estimated

// The input of one flush: the state of the file when the flush began.
struct Plan {
  std::vector<Extent> fresh;
  bool replaces_inline = false;
  std::vector<Writing::Unsynced> unsynced;
  std::vector<BlobId> blobs;
  std::vector<Extent> own;  // extents whose allocated size only the store knows
  std::uint64_t size = 0;
  std::uint64_t writes = 0;  // up to this one all are in `unsynced`, or were synced before
  BlobPins::Hold hold;
};

Plan plan_flush(VolumeContext& volume, const Node& node) {
  Plan plan;
  const Writing* const writing = node.writing.get();
  if (writing == nullptr) return plan;
  plan.fresh = writing->fresh.extents;
  plan.replaces_inline = writing->replaces_inline;
  plan.unsynced = writing->unsynced;
  plan.size = node.record.size;
  plan.writes = node.writes;
  for (const auto& unsynced : plan.unsynced) plan.blobs.push_back(unsynced.blob);
  for (const Extent& extent : plan.fresh) {
    if (std::ranges::find(plan.blobs, extent.blob) == plan.blobs.end()) plan.blobs.push_back(extent.blob);
  }
  const auto note_own = [&](const std::vector<Extent>& extents) {
    for (const Extent& extent : extents) {
      if (extent.file_offset >= kSlotRegionBytes && plan.own.size() < kAskedExtentsMax) plan.own.push_back(extent);
    }
  };
  note_own(node.record.layout.extents);
  note_own(plan.fresh);
  plan.hold = BlobPins::hold(volume.data->pins, std::span<const BlobId>(plan.blobs));
  return plan;
}

// The unused part of the length of each big extent.
std::uint64_t unused_space(VolumeContext& volume, const Plan& plan) {
  std::uint64_t unused = 0;
  for (const Extent& extent : plan.own) {
    if (extent.blob_offset != 0 || extent.file_offset >= plan.size) continue;
    const std::uint64_t length = std::min(extent.length, plan.size - extent.file_offset);
    const auto taken = volume.blobs.allocated(extent.blob, length);
    if (taken && *taken < length) unused += length - *taken;
  }
  return unused;
}

void forget_synced(Writing& writing, const Plan& plan) {
  std::erase_if(writing.unsynced, [&](const Writing::Unsynced& now) {
    return std::ranges::any_of(
        plan.unsynced, [&](const Writing::Unsynced& then) { return then.blob == now.blob && then.write >= now.write; });
  });
}

// With the tree lock shared and the node locked.
Result<CommitTicket> commit_record(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const Plan& plan,
                                   std::uint64_t unused, const std::optional<Appended>& appended) {
  Writing* const writing = node->writing.get();
  MetaTxn txn(volume, ctx);
  Inode next = node->record;
  std::vector<Extent> taken;
  for (const Extent& extent : plan.fresh) {
    // Another flush may have committed it meanwhile, or a truncate cut it.
    if (writing == nullptr || std::ranges::find(writing->fresh.extents, extent) == writing->fresh.extents.end())
      continue;
    next.layout.insert(extent);
    txn.reference(extent.blob, +1);
    taken.push_back(extent);
  }
  // Inline content lies at the beginning of the file. If that extent is not committed here, the file may have got other
  // inline content since, for which a later flush is queued.
  const bool drop_inline =
      plan.replaces_inline && std::ranges::any_of(taken, [](const Extent& extent) { return extent.file_offset == 0; });
  if (drop_inline) {
    stage_no_inline(txn, next.id);
    next.flags &= ~kContentInline;
  }
  if (!next.layout.empty() && !appended) {
    const std::uint64_t estimate = estimate_allocated(next.layout, next.size);
    next.allocated = estimate - std::min(estimate, unused);
  }
  if (!node->marked_dirty && !next.layout.empty()) txn.records().mark_dirty(next.id);
  const bool has_extents = !next.layout.empty();
  if (has_extents) next.flags |= kChecksummed;
  StagedSums sums(volume);
  if (writing != nullptr && !appended) sums.stage(txn.records(), *writing, next.layout, plan.writes);
  OpContext writer;
  if (writing != nullptr && writing->writer_protocol != Protocol::kInternal) {
    writer.cred.uid = writing->writer_uid;
    writer.protocol = writing->writer_protocol;
    writer.client = writing->writer_client;
  } else {
    writer.cred.uid = ctx.cred.uid;
    writer.protocol = ctx.protocol;
    writer.client = ctx.client;
  }
  if (appended) writer.request = ctx.request;
  STOA_CHECK_OK(
      txn.note_change(node, {.kind = ChangeKind::kContent, .type = FileType::kRegular, .appended = appended}, writer));
  txn.put_inode(node, std::move(next), Visible::kNo);
  STOA_TRY(ticket, txn.commit());
  sums.committed(ticket);
  if (has_extents) node->marked_dirty = true;
  if (writing != nullptr) {
    for (const Extent& extent : taken) std::erase(writing->fresh.extents, extent);
    if (drop_inline) writing->replaces_inline = false;
    STOA_ASSERT(!writing->replaces_inline || !writing->fresh.empty(), "an extent waits that replaces what is inline");
    std::erase_if(writing->rows, [](const LiveRowRef& row) {
      const std::lock_guard lock(row->mutex);
      return row->gone || row->unsynced == 0;
    });
    node->dirty = !writing->fresh.empty() || !writing->unsynced.empty();
    if (writing->idle()) node->writing.reset();
  }
  return ticket;
}

Result<CommitTicket> commit_plan(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const Plan& plan,
                                 std::uint64_t unused) {
  STOA_TRY(tree_lock, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(locks, NodeLocks::take(ctx, {node}));
  if (node->deleted) return CommitTicket{};
  STOA_ASSERT(plan.writes <= node->writes, "writes are counted upwards");
  if (node->writing != nullptr) forget_synced(*node->writing, plan);
  if (!node->dirty) return node->ticket;
  return commit_record(volume, ctx, node, plan, unused, {});
}

}  // namespace

Status sync_fresh(VolumeContext& volume, const OpContext& ctx, const NodeRef& node) {
  std::vector<BlobId> blobs;
  BlobPins::Hold hold;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    if (node->deleted || node->writing == nullptr) return {};
    for (const Extent& extent : node->writing->fresh.extents) blobs.push_back(extent.blob);
    hold = BlobPins::hold(volume.data->pins, std::span<const BlobId>(blobs));
  }
  return blobs.empty() ? Status{} : volume.blobs.sync(blobs);
}

// What was synced stays noted as unsynced, and sums and allocated size as they are stored: that is the next flush's.
Result<CommitTicket> commit_append(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                   const Appended& appended) {
  STOA_ASSERT(node->writing != nullptr, "an append is a write");
  Plan plan;
  plan.fresh = node->writing->fresh.extents;
  plan.replaces_inline = node->writing->replaces_inline;
  return commit_record(volume, ctx, node, plan, 0, appended);
}

Result<CommitTicket> flush_file(VolumeContext& volume, const OpContext& ctx, const NodeRef& node) {
  Plan plan;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    if (node->deleted) return CommitTicket{};
    if (!node->dirty) return static_cast<std::uint64_t>(node->ticket) != 0 ? node->ticket : volume.committer.applied();
    plan = plan_flush(volume, *node);
  }
  if (!plan.blobs.empty()) {
    const Status synced = volume.blobs.sync(plan.blobs);
    if (!synced) return fail(synced.error());
  }
  return commit_plan(volume, ctx, node, plan, unused_space(volume, plan));
}

Result<CommitTicket> flush_files(VolumeContext& volume, const OpContext& ctx, std::span<const FileId> files) {
  if (files.empty()) return CommitTicket{};
  std::vector<FileId> once(files.begin(), files.end());
  std::ranges::sort(once);
  once.erase(std::ranges::unique(once).begin(), once.end());
  if (once.size() == 1) {
    auto node = volume.nodes.get(once.front());
    if (!node && node.error().code == Errc::kStale) return CommitTicket{};
    STOA_CHECK_OK(node);
    return flush_file(volume, ctx, *node);
  }
  // One file after the other would cost a sync each: sync the blobs of all side by side. Flushing each file then finds
  // its blobs clean, and returns the error of the file.
  std::vector<NodeRef> nodes;
  std::vector<BlobId> blobs;
  std::vector<BlobPins::Hold> holds;
  Status result;
  for (const FileId id : once) {
    auto node = volume.nodes.get(id);
    if (!node) {
      if (node.error().code != Errc::kStale) result = fail(node.error());
      continue;
    }
    STOA_TRY(lock, share_by((*node)->lock, ctx.deadline));
    if ((*node)->deleted) continue;
    Plan plan = plan_flush(volume, **node);
    blobs.insert(blobs.end(), plan.blobs.begin(), plan.blobs.end());
    holds.push_back(std::move(plan.hold));
    nodes.push_back(*node);
  }
  if (!blobs.empty()) (void)volume.blobs.sync(blobs);
  CommitTicket newest{};
  for (const NodeRef& node : nodes) {
    const auto flushed = flush_file(volume, ctx, node);
    if (flushed) {
      newest = std::max(newest, *flushed);
    } else if (result) {
      result = fail(flushed.error());
    }
  }
  STOA_CHECK_OK(result);
  return newest;
}

namespace {

// With the node locked. Whether there was room.
bool queue_below(VolumeContext& volume, const NodeRef& node, std::size_t most) {
  if (node->queued_for_flush) return true;
  const std::lock_guard lock(volume.data->lazy_mutex);
  if (volume.data->lazy.size() >= most) return false;
  node->queued_for_flush = true;
  volume.data->lazy.push_back(node);
  return true;
}
// Files from the queue go back to it, full or not: else they would never be flushed.
void queue_again(VolumeContext& volume, const NodeRef& node) {
  (void)queue_below(volume, node, SIZE_MAX);
}

}  // namespace

bool queue_for_flush(VolumeContext& volume, const NodeRef& node) {
  node->dirty = true;
  return !queue_below(volume, node, kLazyFilesMax);
}

Status flush_lazy(VolumeContext& volume, qos::BackgroundThrottle* throttle) {
  std::vector<NodeRef> files;
  {
    const std::lock_guard lock(volume.data->lazy_mutex);
    files.swap(volume.data->lazy);
  }
  // One file after the other costs a sync each: gather the blobs of many and sync them side by side. Flushing each file
  // then finds its blobs clean.
  constexpr std::size_t kTogether = 256;
  // With more, pauses would exceed the age limit of written data, and writers would soon have to flush for themselves.
  constexpr std::size_t kUnhurried = 4096;
  const OpContext ctx;
  Status result;
  for (std::size_t at = 0; at < files.size(); at += kTogether) {
    const auto some = std::span(files).subspan(at, std::min(kTogether, files.size() - at));
    std::vector<BlobId> blobs;
    std::vector<BlobPins::Hold> holds;
    for (const NodeRef& node : some) {
      // From here on a new write queues the file again.
      const std::lock_guard lock(node->lock);
      node->queued_for_flush = false;
      if (node->deleted) continue;
      Plan plan = plan_flush(volume, *node);
      blobs.insert(blobs.end(), plan.blobs.begin(), plan.blobs.end());
      holds.push_back(std::move(plan.hold));
    }
    if (const Status synced = volume.blobs.sync(blobs); !synced) {
      log_warning("data", "a sync of written files failed", {{"error", describe(synced.error())}});
    }
    for (const NodeRef& node : some) {
      const auto flushed = flush_file(volume, ctx, node);
      if (flushed) {
        const std::lock_guard lock(node->lock);
        if (!node->deleted && node->dirty) queue_again(volume, node);
        continue;
      }
      result = fail(flushed.error());
      const std::lock_guard lock(node->lock);
      if (!node->deleted) queue_again(volume, node);  // the uncommitted state stays queued, and is tried again
    }
    if (throttle == nullptr) continue;
    const qos::Price price = qos::Price{}.add(qos::Resource::kMetadataOps, some.size());
    if (files.size() <= kUnhurried) {
      throttle->spent(price);
    } else {
      throttle->spent_unthrottled(price);
    }
  }
  return result;
}

}  // namespace stoa::core
