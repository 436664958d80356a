#include "core/access/access.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/file_view.h"
#include "core/data/flush.h"
#include "core/data/part.h"
#include "core/data/prepare.h"
#include "core/data/truncate.h"
#include "core/txn/covered.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kPieceBytes = 4u << 20;        // of a size that a client would use
constexpr std::uint64_t kPunchedBytesMin = 64u << 10;  // fewer zeros over bytes that are there are written

// The file has at least this size.
Result<CopyRangeReply> grow(VolumeContext& volume, const OpContext& ctx, FileId id, std::uint64_t size) {
  STOA_TRY(node, reach(volume, ctx, id));
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_CHECK_OK(prepare_truncate(volume, ctx, node, size));
  return run_mutation(volume, ctx, [&](CommitTicket& ticket) -> Result<CopyRangeReply> {
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    STOA_CHECK_OK(require_regular(*node));
    STOA_CHECK_OK(require_write(ctx, node->record, size));
    STOA_CHECK_OK(require_content_changeable(volume, ctx, *node));
    Inode next = node->record;
    if (next.size >= size) return CopyRangeReply{0, next.attributes(), volume.write_verifier};
    STOA_CHECK_OK(volume.state.before_io(ctx, id, next.size, size - next.size, true));
    MetaTxn txn(volume, ctx);
    STOA_CHECK_OK(stage_truncate(volume, txn, node, next, size));
    next.touch_content(txn.now());
    next.mode = mode_after_write(ctx, next.mode);
    CopyRangeReply reply{0, next.attributes(), volume.write_verifier};
    txn.put_inode(node, std::move(next));
    STOA_CHECK_OK(txn.note_change(node, {.kind = ChangeKind::kContent}));
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return reply;
  });
}

Status write_zeros(VolumeContext& volume, const OpContext& ctx, FileId id, std::uint64_t offset, std::uint64_t length) {
  const std::vector<std::byte> zeros(length);
  const std::span<const std::byte> pieces[] = {zeros};
  STOA_CHECK_OK(write(volume, ctx, {id, offset, pieces}));
  return {};
}

// A hole of the source is one of the target, too: it takes no space there.
Result<Attributes> copy_hole(VolumeContext& volume, const OpContext& ctx, FileId to, std::uint64_t offset,
                             std::uint64_t length) {
  STOA_TRY(target, getattr(volume, ctx, {to}));
  const std::uint64_t size = target.attr.size, end = offset + length;
  if (offset < size) {
    const std::uint64_t over = std::min(end, size) - offset;
    if (over < kPunchedBytesMin) {
      STOA_CHECK_OK(write_zeros(volume, ctx, to, offset, over));
    } else {
      STOA_CHECK_OK(punch(volume, ctx, {to, offset, over}));
    }
  }
  if (end > size) STOA_CHECK_OK(grow(volume, ctx, to, end));
  STOA_TRY(now, getattr(volume, ctx, {to}));
  return now.attr;
}

// The begin of the next hole (or data), or `end`.
Result<std::uint64_t> next_of(VolumeContext& volume, const OpContext& ctx, FileId from, std::uint64_t offset,
                              std::uint64_t end, SeekWhat what) {
  const auto found = seek(volume, ctx, {from, offset, what});
  if (!found && found.error().code == Errc::kNoMoreData) return end;
  STOA_CHECK_OK(found);
  return std::min(found->offset, end);
}

Status require_both(const OpContext& ctx, const CopyRangeRequest& req, const Node& from, const Node& to) {
  STOA_CHECK_OK(require_regular(from));
  STOA_CHECK_OK(require_regular(to));
  STOA_CHECK_OK(require_read(ctx, from.record));
  return require_write(ctx, to.record, req.to_offset);
}

// Checks before anything is copied, including growth that a quota has no room for.
Status require_copy(VolumeContext& volume, const OpContext& ctx, const CopyRangeRequest& req, std::uint64_t length,
                    const NodeRef& from, const NodeRef& to) {
  STOA_TRY(locks, NodeLocks::take(ctx, {from, to}));
  STOA_CHECK_OK(require_both(ctx, req, *from, *to));
  STOA_CHECK_OK(require_content_changeable(volume, ctx, *to));
  const std::uint64_t size = req.to_offset + length;
  if (size <= to->record.size) return {};
  return volume.ledger.check(to->charge_target(), {.bytes = static_cast<std::int64_t>(size - to->record.size)});
}

// Reads and writes. `reply` has the length copied, also on failure.
Status copy_bytes(VolumeContext& volume, const OpContext& ctx, const CopyRangeRequest& req, std::uint64_t length,
                  CopyRangeReply& reply) {
  std::vector<std::byte> buffer(std::min(length, kPieceBytes));
  const std::uint64_t end = req.from_offset + length;
  for (std::uint64_t at = req.from_offset; at < end;) {
    STOA_TRY(data, next_of(volume, ctx, req.from, at, end, SeekWhat::kData));
    if (data == end) {
      // A hole up to the end, unless the source was cut meanwhile.
      STOA_TRY(source, getattr(volume, ctx, {req.from}));
      data = std::min(end, source.attr.size);
      if (data <= at) break;
    }
    if (data > at) {
      STOA_TRY(attr, copy_hole(volume, ctx, req.to, req.to_offset + reply.length, data - at));
      reply.attr = attr;
      reply.length += data - at;
      at = data;
      continue;
    }
    STOA_TRY(hole, next_of(volume, ctx, req.from, at, end, SeekWhat::kHole));
    if (hole == at) continue;  // it was punched meanwhile
    while (at < hole) {
      const auto want = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), hole - at));
      STOA_TRY(got, read(volume, ctx, {req.from, at, want}));
      if (got.length == 0) return {};
      const std::span<const std::byte> pieces[] = {want.first(got.length)};
      STOA_TRY(written, write(volume, ctx, {req.to, req.to_offset + reply.length, pieces}));
      at += written.length;
      reply.length += written.length;
      reply.attr = written.attr;
    }
  }
  return {};
}

// Both files' gates are held exclusively and both are flushed. Extents of the source become extents of the target.
Result<CopyRangeReply> share_locked(VolumeContext& volume, const OpContext& ctx, const CopyRangeRequest& req,
                                    std::uint64_t length, const NodeRef& from, const NodeRef& to,
                                    CommitTicket& ticket) {
  STOA_TRY(locks, NodeLocks::take(ctx, {from, to}));
  STOA_CHECK_OK(require_both(ctx, req, *from, *to));
  STOA_CHECK_OK(require_content_changeable(volume, ctx, *to));
  if (req.from_offset > from->record.size || length > from->record.size - req.from_offset) return fail(Errc::kInvalid);
  MetaTxn txn(volume, ctx);
  const bool same = from == to;
  Inode source = from->record;
  Inode target = to->record;
  const auto pieces = source.layout.map(req.from_offset, length);
  share_range(source.layout, req.from_offset, length);
  if (same) target.layout = source.layout;
  const std::uint64_t end = req.to_offset + length;
  if (end > target.size) {
    STOA_CHECK_OK(txn.reserve(to->charge_target(), {.bytes = static_cast<std::int64_t>(end - target.size)}));
    target.size = end;
  }
  stage_changes(txn, target.layout.cut(req.to_offset, length).changes);
  for (const Piece& piece : pieces) {
    if (piece.hole()) continue;
    target.layout.insert(
        {req.to_offset + (piece.file_offset - req.from_offset), piece.length, piece.blob, piece.blob_offset, true});
    txn.reference(piece.blob, +1);
  }
  if (target.layout.extents.size() > kExtentsMax) return fail(Cause::kTooManyPieces);
  // Blobs keep their sums, which are verified through every file that names them.
  target.flags |= source.flags & kChecksummed;
  target.allocated = estimate_allocated(target.layout, target.size);
  advance_version(target, txn.now());
  target.touch_content(txn.now());
  target.mode = mode_after_write(ctx, target.mode);
  CopyRangeReply reply{length, target.attributes(), volume.write_verifier};
  if (!same) txn.put_inode(from, std::move(source), Visible::kNo);
  txn.put_inode(to, std::move(target));
  STOA_CHECK_OK(txn.note_change(to, {.kind = ChangeKind::kContent}));
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

// Absent: the range is inline, and must be copied.
Result<std::optional<CopyRangeReply>> share(VolumeContext& volume, const OpContext& ctx, const CopyRangeRequest& req,
                                            std::uint64_t length, const NodeRef& from, const NodeRef& to) {
  // In the order of ids, as node locks are.
  STOA_TRY(first, lock_by(from->id <= to->id ? from->data_gate : to->data_gate, ctx.deadline));
  std::unique_lock<RwLock> second;
  if (from != to) {
    STOA_TRY(other, lock_by(from->id <= to->id ? to->data_gate : from->data_gate, ctx.deadline));
    second = std::move(other);
  }
  STOA_CHECK_OK(volume.state.before_io(ctx, from->id, req.from_offset, length, false));
  STOA_CHECK_OK(volume.state.before_io(ctx, to->id, req.to_offset, length, true));
  // The target's checksums and inline content give way; the source stays as it is.
  STOA_CHECK_OK(prepare_locked(volume, ctx, to, req.to_offset, 0));
  for (const NodeRef& node : {from, to}) STOA_CHECK_OK(flush_file(volume, ctx, node));
  {
    // The content may have been replaced before the gates were closed.
    STOA_TRY(lock, share_by(from->lock, ctx.deadline));
    if (reads_inline(*from)) return std::nullopt;
  }
  STOA_TRY(shared, run_mutation(volume, ctx, [&](CommitTicket& ticket) {
             return share_locked(volume, ctx, req, length, from, to, ticket);
           }));
  return shared;
}

}  // namespace

Result<CopyRangeReply> copy_range(VolumeContext& volume, const OpContext& ctx, const CopyRangeRequest& req) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(from, reach(volume, ctx, req.from));
  STOA_TRY(to, reach(volume, ctx, req.to));
  std::uint64_t length = req.length;
  bool is_inline = false;
  {
    STOA_TRY(lock, share_by(from->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*from));
    STOA_CHECK_OK(before_look(volume, ctx, from->record));
    const std::uint64_t size = from->record.size;
    if (req.from_offset > size) return fail(Errc::kInvalid, "behind the end of the source");
    if (length == 0) length = size - req.from_offset;
    if (length > size - req.from_offset) return fail(Errc::kInvalid, "behind the end of the source");
    is_inline = reads_inline(*from);
  }
  {
    // Also when there is nothing to copy.
    STOA_TRY(lock, share_by(to->lock, ctx.deadline));
    STOA_CHECK_OK(require_regular(*to));
  }
  if (req.to_offset > kFileBytesMax - length) return fail(Errc::kFileTooBig);
  if (from == to && req.from_offset < req.to_offset + length && req.to_offset < req.from_offset + length) {
    return fail(Errc::kInvalid, "overlapping ranges");
  }
  if (length > 0 && !is_inline && req.share) {
    STOA_TRY(shared, share(volume, ctx, req, length, from, to));
    if (shared) return *shared;
  }
  if (length > 0) STOA_CHECK_OK(require_copy(volume, ctx, req, length, from, to));
  STOA_TRY(target, getattr(volume, ctx, {req.to}));
  CopyRangeReply reply{0, target.attr, volume.write_verifier};
  const Status copied = copy_bytes(volume, ctx, req, length, reply);
  if (reply.length == 0) STOA_CHECK_OK(copied);
  return reply;
}

}  // namespace stoa::core
