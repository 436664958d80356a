#include "core/access/access.h"
#include "core/data/data_state.h"
#include "core/data/flush.h"
#include "core/data/range_change.h"
#include "core/data/truncate.h"
#include "core/data/zero.h"
#include "core/txn/covered.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {
namespace {

// The reply to a change of no bytes.
Result<RangeReply> unchanged(const OpContext& ctx, const NodeRef& node) {
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_regular(*node));
  return RangeReply{node->record.before(), node->record.attributes()};
}

}  // namespace

Result<RangeReply> punch(VolumeContext& volume, const OpContext& ctx, const RangeRequest& req) {
  if (req.offset > kFileBytesMax || req.length > kFileBytesMax - req.offset) return fail(Errc::kFileTooBig);
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_CHECK_OK(check_range_change(volume, ctx, node, req.offset));
  if (req.length == 0) return unchanged(ctx, node);
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_CHECK_OK(volume.state.before_io(ctx, req.id, req.offset, req.length, true));
  STOA_CHECK_OK(before_change(volume, ctx, node));
  STOA_CHECK_OK(flush_file(volume, ctx, node));
  std::uint64_t end = 0, size = 0;
  bool is_inline = false;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    size = node->record.size;
    end = std::min(node->record.size, req.offset + req.length);
    is_inline = node->record.has(kContentInline);
  }
  std::vector<Piece> zeroed;
  BlobPins::Hold hold;
  if (!is_inline && req.offset < end) {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*node));
    const auto pieces = node->record.layout.map(req.offset, end - req.offset);
    // A hole in the middle of shared bytes makes two extents of one.
    const bool splits = pieces.size() == 1 && pieces.front().shared;
    if (splits && node->record.layout.extents.size() >= kExtentsMax) {
      return fail(Cause::kTooManyPieces);
    }
    for (const Piece& piece : pieces) {
      if (!piece.hole() && !piece.shared) zeroed.push_back(piece);
    }
    hold = BlobPins::hold(volume.data->pins, zeroed);
  }
  // Nothing may stop it from the first byte on: what is gone must be known.
  if (!zeroed.empty()) STOA_CHECK_OK(check_range_change(volume, ctx, node, req.offset));
  const OpContext begun = ctx.after_change();
  const OpContext& then = zeroed.empty() ? ctx : begun;
  for (const Piece& piece : zeroed) {
    const std::uint64_t content_end = piece.blob_offset + (size - piece.file_offset);
    STOA_CHECK_OK(punch_blob(volume, req.id, piece.file_offset, piece.blob, piece.blob_offset, piece.length,
                             content_end, then.deadline));
  }
  auto reply =
      change_range(volume, then, node, req.offset, RangeEffect::kContent, [&](MetaTxn& txn, Inode& next) -> Status {
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
  ctx.pending.merge(begun.pending);
  return reply;
}

Result<SeekReply> seek(const VolumeView& volume, const OpContext& ctx, const SeekRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(gate, share_by(node->data_gate, ctx.deadline));
  std::vector<Piece> pieces;
  std::uint64_t size = 0;
  bool is_inline = false;
  BlobPins::Hold hold;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*node));
    STOA_CHECK_OK(require_read(ctx, node->record));
    STOA_CHECK_OK(before_look(volume, ctx, node->record));
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
