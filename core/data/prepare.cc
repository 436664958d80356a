#include "core/data/prepare.h"

#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/file_view.h"
#include "core/data/flush.h"
#include "core/data/placement.h"
#include "core/data/sum_change.h"
#include "core/data/verify.h"
#include "core/data/zero.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kCopyBytes = 1u << 20;  // copied at once around a write to shared bytes

// One transaction on the file's record, with no other thread in the file. `stage` fills in the record; false:
// nothing to do.
template <class Stage>
Status change_record(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, Stage stage) {
  STOA_TRY(tree_lock, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(locks, NodeLocks::take(ctx, {node}));
  STOA_CHECK_OK(require_regular(*node));
  MetaTxn txn(volume, ctx);
  Inode next = node->record;
  STOA_TRY(wanted, stage(txn, next));
  if (!wanted) return {};
  txn.records().mark_dirty(next.id);
  txn.put_inode(node, std::move(next), Visible::kNo);
  STOA_CHECK_OK(txn.commit());
  node->marked_dirty = true;
  return {};
}

Status move_inline_to_blob(VolumeContext& volume, const OpContext& ctx, const NodeRef& node) {
  STOA_TRY(bytes, load_inline(volume, node->id));
  STOA_TRY(blob, reserve_blob(volume, std::max<std::uint64_t>(bytes.size(), kFirstSegmentBytes)));
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
  SumChange sums(volume, node->id, ctx.deadline);
  const SumRange range{0, blob, 0, bytes.size(), {.fresh = true}};
  Status written = sums.begin(std::span(&range, 1), pieces);
  if (written) written = volume.blobs.write(blob, 0, pieces);
  if (!written) {
    volume.in_flight.abandon(blob);
    return written;
  }
  const auto lock = lock_by(node->lock, ctx.deadline);
  if (!lock || node->deleted) {
    volume.in_flight.abandon(blob);
    return lock ? fail(Errc::kStale) : fail(lock.error());
  }
  if (node->writing == nullptr) node->writing = std::make_unique<Writing>();
  Writing& writing = *node->writing;
  writing.fresh.insert({0, std::max<std::uint64_t>(std::bit_ceil(bytes.size()), kFirstSegmentBytes), blob, 0});
  writing.replaces_inline = true;
  writing.unsynced.push_back({blob, ++node->writes});
  sums.publish(writing, node->writes);
  (void)queue_for_flush(volume, node);  // the write that this is done for flushes it when the queue is full
  return {};
}

Result<BlobSums> copy_bytes(VolumeContext& volume, FileId id, const Piece& from, BlobId to) {
  // A damaged block must not become a copy that looks right.
  STOA_CHECK_OK(verify_pieces(volume, id, std::span(&from, 1)));
  BlockSummer summer;
  std::vector<std::byte> buffer(std::min<std::uint64_t>(from.length, kCopyBytes));
  for (std::uint64_t at = 0; at < from.length; at += buffer.size()) {
    const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), from.length - at));
    STOA_CHECK_OK(volume.blobs.read(from.blob, from.blob_offset + at, part));
    const std::span<const std::byte> pieces[] = {part};
    summer.add(part);
    STOA_CHECK_OK(volume.blobs.write(to, at, pieces));
  }
  STOA_CHECK_OK(volume.blobs.sync(std::span(&to, 1)));
  return summer.finish(to);
}

// Gives the file a blob of its own for a shared piece, whole blocks of copies around it.
Status unshare(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const Piece& piece) {
  Piece whole;
  BlobPins::Hold hold;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*node));
    for (const Extent& extent : node->record.layout.extents) {
      if (piece.file_offset < extent.file_offset || piece.file_offset >= extent.end()) continue;
      const std::uint64_t from = std::max(extent.file_offset, piece.file_offset / kCopyBytes * kCopyBytes);
      const std::uint64_t to = std::min(extent.end(), (piece.end() + kCopyBytes - 1) / kCopyBytes * kCopyBytes);
      whole = {from, to - from, extent.blob, extent.blob_offset + from - extent.file_offset};
    }
    if (whole.hole()) return {};
    hold = BlobPins::hold(volume.data->pins, std::span(&whole, 1));
  }
  STOA_TRY(blob, reserve_blob(volume, whole.length));
  const auto copied = copy_bytes(volume, node->id, whole, blob);
  Status done = copied ? Status{} : fail(copied.error());
  if (done) {
    done = change_record(volume, ctx, node, [&](MetaTxn& txn, Inode& next) -> Result<bool> {
      if (next.layout.extents.size() + 2 > kExtentsMax) return fail(Cause::kTooManyPieces);
      for (const auto& change : next.layout.cut(whole.file_offset, whole.length).changes) {
        for (std::int32_t i = 0; i < std::abs(change.delta); ++i) txn.reference(change.blob, change.delta < 0 ? -1 : 1);
      }
      next.layout.insert({whole.file_offset, whole.length, blob, 0});
      txn.reference(blob, +1);
      stage_sums(txn.records(), *copied);
      return true;
    });
  }
  if (!done) volume.in_flight.abandon(blob);
  return done;
}

// The last extent, when it was cut or was complete: how far its blob still reaches beyond it.
std::uint64_t room_behind(VolumeContext& volume, const Node& node, std::uint64_t offset) {
  const auto& extents = node.record.layout.extents;
  if (extents.empty() || (node.writing != nullptr && !node.writing->fresh.empty())) return 0;
  const Extent& last = extents.back();
  if (last.shared || offset < last.end()) return 0;
  const std::uint64_t capacity = std::min(volume.blobs.capacity(last.blob), kOwnSegmentBytes);
  const std::uint64_t used = last.blob_offset + last.length;
  if (used >= capacity || offset - last.end() >= capacity - used) return 0;
  return std::min(capacity - used, kFileBytesMax - last.end());
}

Status lengthen_last(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset) {
  Extent last;
  std::uint64_t room = 0;
  BlobPins::Hold hold;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*node));
    room = room_behind(volume, *node, offset);
    if (room == 0) return {};
    last = node->record.layout.extents.back();
    hold = BlobPins::hold(volume.data->pins, std::span(&last.blob, 1));
  }
  // The blob's bytes there are from before the cut.
  const std::uint64_t used = last.blob_offset + last.length;
  STOA_CHECK_OK(punch_blob(volume, node->id, last.end(), last.blob, used, room, used, ctx.deadline));
  return change_record(volume, ctx, node, [&](MetaTxn&, Inode& next) -> Result<bool> {
    if (next.layout.extents.empty() || next.layout.extents.back() != last) return false;
    next.layout.extents.back().length += room;
    return true;
  });
}

}  // namespace

bool needs_prepare(VolumeContext& volume, const Node& node, std::uint64_t offset, std::uint64_t length) {
  if (reads_inline(node)) return true;
  const std::uint64_t end = offset + length;
  for (const Extent& extent : node.record.layout.extents) {
    if (extent.shared && extent.file_offset < end && extent.end() > offset) return true;
  }
  return room_behind(volume, node, end - 1) != 0;
}

Status prepare_locked(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset,
                      std::uint64_t length) {
  bool is_inline = false;
  bool shared = false;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*node));
    is_inline = reads_inline(*node);
    for (const Piece& piece : node->record.layout.map(offset, length)) shared |= piece.shared;
  }
  if (is_inline) STOA_CHECK_OK(move_inline_to_blob(volume, ctx, node));
  while (shared) {
    Piece first;
    {
      STOA_TRY(lock, share_by(node->lock, ctx.deadline));
      for (const Piece& piece : node->record.layout.map(offset, length)) {
        if (piece.shared && first.hole()) first = piece;
      }
    }
    if (first.hole()) break;
    STOA_CHECK_OK(unshare(volume, ctx, node, first));
  }
  return {};
}

Status prepare_write(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset,
                     std::uint64_t length) {
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_CHECK_OK(prepare_locked(volume, ctx, node, offset, length));
  return lengthen_last(volume, ctx, node, offset + length - 1);
}

}  // namespace stoa::core
