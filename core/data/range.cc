#include "core/access/access.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/file_view.h"
#include "core/data/flush.h"
#include "core/data/placement.h"
#include "core/data/prepare.h"
#include "core/data/truncate.h"
#include "core/data/zero.h"
#include "core/txn/in_bin.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {
namespace {

Status require_writable_file(const OpContext& ctx, const Node& node, std::uint64_t offset) {
  STOA_CHECK_OK(require_regular(node));
  return require_write(ctx, node.record, offset);
}

// One transaction on a file with no other thread in it. `stage(txn, next)` fills in the record; times and version are
// set here.
template <class Stage>
Result<RangeReply> change_range(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                const RangeRequest& req, Stage stage) {
  return run_mutation(volume, ctx, [&](CommitTicket& ticket) -> Result<RangeReply> {
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    STOA_CHECK_OK(require_writable_file(ctx, *node, req.offset));
    STOA_CHECK_OK(require_content_outside_bin(volume, ctx, *node));
    MetaTxn txn(volume, ctx);
    Inode next = node->record;
    RangeReply reply{next.before(), {}};
    STOA_CHECK_OK(stage(txn, next));
    advance_version(next, txn.now());
    next.touch_content(txn.now());
    next.mode = mode_after_write(ctx, next.mode);
    reply.attr = next.attributes();
    txn.put_inode(node, std::move(next));
    STOA_CHECK_OK(txn.note_change(node, {.kind = ChangeKind::kContent}));
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return reply;
  });
}

Status check_file(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_writable_file(ctx, *node, offset));
  return require_content_outside_bin(volume, ctx, *node);
}

// A request that will be refused anyway must take no space on the disks meanwhile. Whether there is room is decided
// with the change itself.
Status may_allocate(VolumeContext& volume, const NodeRef& node, const RangeRequest& req) {
  if (req.length > volume.blobs.space().total) return fail(Errc::kNoSpace);
  const std::shared_lock tree_lock(volume.tree_lock);
  const std::shared_lock lock(node->lock);
  const std::uint64_t end = req.offset + req.length;
  if (end <= node->record.size) return {};
  return volume.ledger.check(node->charge_target(), {.bytes = static_cast<std::int64_t>(end - node->record.size)});
}

}  // namespace

Result<RangeReply> allocate(VolumeContext& volume, const OpContext& ctx, const RangeRequest& req) {
  if (req.length > kFileBytesMax || req.offset > kFileBytesMax - req.length) return fail(Errc::kFileTooBig);
  if (req.length == 0) return fail(Errc::kInvalid);
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_CHECK_OK(check_file(volume, ctx, node, req.offset));
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_CHECK_OK(volume.state.before_io(ctx, req.id, req.offset, req.length, true));
  STOA_CHECK_OK(volume.state.before_mutate(ctx, std::span(&req.id, 1)));
  STOA_CHECK_OK(prepare_locked(volume, ctx, node, req.offset, req.length));
  STOA_CHECK_OK(flush_file(volume, ctx, node));
  STOA_CHECK_OK(may_allocate(volume, node, req));
  // Space first, in blobs of its own where there are none, then the record that names them.
  Layout added;
  std::vector<Piece> pieces;
  BlobPins::Hold hold;
  {
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_regular(*node));
    pieces = map_file(*node, req.offset, req.length);
    hold = BlobPins::hold(volume.data->pins, pieces);
  }
  Status done;
  const auto allocate_piece = [&](const Piece& piece) -> Status {
    if (!piece.hole()) return volume.blobs.allocate(piece.blob, piece.blob_offset, piece.length);
    Neighbours around;
    {
      const std::shared_lock lock(node->lock);
      around = neighbours(*node, piece.file_offset);
    }
    for (const Room& room : rooms_for(piece.file_offset, piece.length, around.floor, around.ceiling)) {
      STOA_TRY(blob, reserve_blob(volume, room.length));
      added.insert({room.file_offset, room.length, blob, 0});
      const std::uint64_t from = std::max(room.file_offset, piece.file_offset);
      const std::uint64_t to = std::min(room.file_offset + room.length, piece.end());
      STOA_CHECK_OK(volume.blobs.allocate(blob, from - room.file_offset, to - from));
    }
    return {};
  };
  for (const Piece& piece : pieces) {
    done = allocate_piece(piece);
    if (!done) break;
  }
  std::vector<BlobId> blobs;
  for (const Extent& extent : added.extents) blobs.push_back(extent.blob);
  if (done) done = volume.blobs.sync(blobs);
  auto reply = !done ? Result<RangeReply>(fail(done.error()))
                     : change_range(volume, ctx, node, req, [&](MetaTxn& txn, Inode& next) -> Status {
                         const std::uint64_t end = req.offset + req.length;
                         if (end > next.size) {
                           STOA_CHECK_OK(txn.reserve(node->charge_target(),
                                                     {.bytes = static_cast<std::int64_t>(end - next.size)}));
                           next.size = end;
                         }
                         if (next.layout.extents.size() + added.extents.size() > kExtentsMax)
                           return fail(Errc::kNoSpace);
                         for (const Extent& extent : added.extents) {
                           next.layout.insert(extent);
                           txn.reference(extent.blob, +1);
                         }
                         // Bytes behind the end in them have no sums, and may be written before the next flush.
                         if (!added.extents.empty()) txn.records().mark_dirty(next.id);
                         next.allocated = std::max(next.allocated, estimate_allocated(next.layout, next.size));
                         return {};
                       });
  if (!reply) {
    for (const BlobId blob : blobs) volume.in_flight.abandon(blob);
  }
  return reply;
}

Result<RangeReply> punch(VolumeContext& volume, const OpContext& ctx, const RangeRequest& req) {
  if (req.offset > kFileBytesMax || req.length > kFileBytesMax - req.offset) return fail(Errc::kFileTooBig);
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_CHECK_OK(check_file(volume, ctx, node, req.offset));
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_CHECK_OK(volume.state.before_io(ctx, req.id, req.offset, req.length, true));
  STOA_CHECK_OK(volume.state.before_mutate(ctx, std::span(&req.id, 1)));
  STOA_CHECK_OK(flush_file(volume, ctx, node));
  std::uint64_t end = 0, size = 0;
  bool is_inline = false;
  {
    const std::shared_lock lock(node->lock);
    size = node->record.size;
    end = std::min(node->record.size, req.offset + req.length);
    is_inline = node->record.has(kContentInline);
  }
  std::vector<Piece> zeroed;
  BlobPins::Hold hold;
  if (!is_inline && req.offset < end) {
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_regular(*node));
    const auto pieces = node->record.layout.map(req.offset, end - req.offset);
    // A hole in the middle of shared bytes makes two extents of one.
    const bool splits = pieces.size() == 1 && pieces.front().shared;
    if (splits && node->record.layout.extents.size() >= kExtentsMax) {
      return fail(Errc::kNoSpace, "the file would be in too many pieces");
    }
    for (const Piece& piece : pieces) {
      if (!piece.hole() && !piece.shared) zeroed.push_back(piece);
    }
    hold = BlobPins::hold(volume.data->pins, zeroed);
  }
  for (const Piece& piece : zeroed) {
    const std::uint64_t content_end = piece.blob_offset + (size - piece.file_offset);
    STOA_CHECK_OK(
        punch_blob(volume, req.id, piece.file_offset, piece.blob, piece.blob_offset, piece.length, content_end));
  }
  return change_range(volume, ctx, node, req, [&](MetaTxn& txn, Inode& next) -> Status {
    if (req.offset >= end) return {};
    if (next.has(kContentInline)) {
      STOA_TRY(bytes, load_inline(volume, next.id));
      for (std::uint64_t at = req.offset; at < std::min<std::uint64_t>(end, bytes.size()); ++at) bytes[at] = '\0';
      stage_inline(txn, next.id, bytes);
      return {};
    }
    // Whole extents and shared bytes leave the layout; of others only the bytes are gone.
    const auto pieces = next.layout.map(req.offset, end - req.offset);
    for (const Piece& piece : pieces) {
      if (piece.hole()) continue;
      const bool whole = std::ranges::any_of(next.layout.extents, [&](const Extent& extent) {
        return extent.file_offset == piece.file_offset && extent.end() == piece.end();
      });
      if (!piece.shared && !whole) continue;
      stage_changes(txn, next.layout.cut(piece.file_offset, piece.length).changes);
    }
    next.allocated = std::min(next.allocated, estimate_allocated(next.layout, next.size));
    return {};
  });
}

Result<SeekReply> seek(const VolumeView& volume, const OpContext& ctx, const SeekRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(gate, share_by(node->data_gate, ctx.deadline));
  std::vector<Piece> pieces;
  std::uint64_t size = 0;
  bool is_inline = false;
  BlobPins::Hold hold;
  {
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_regular(*node));
    STOA_CHECK_OK(require_read(ctx, node->record));
    STOA_CHECK_OK(volume.state.before_look(ctx, req.id));
    size = node->record.size;
    if (req.offset >= size) return fail(Errc::kNoMoreData);
    is_inline = reads_inline(*node);
    if (!is_inline) pieces = map_file(*node, req.offset, size - req.offset);
    hold = BlobPins::hold(volume.data->pins, pieces);
  }
  const bool data = req.what == SeekWhat::kData;
  if (is_inline) {
    if (data) return SeekReply{req.offset, false};
    return SeekReply{size, true};
  }
  for (const Piece& piece : pieces) {
    if (piece.hole()) {
      if (!data) return SeekReply{piece.file_offset, false};
      continue;
    }
    const std::uint64_t end = piece.blob_offset + piece.length;
    STOA_TRY(found, volume.blobs.seek(piece.blob, piece.blob_offset, end, data));
    if (found < end) return SeekReply{piece.file_offset + (found - piece.blob_offset), false};
  }
  // Every file ends with a hole; no data follows.
  if (data) return fail(Errc::kNoMoreData);
  return SeekReply{size, true};
}

}  // namespace stoa::core
