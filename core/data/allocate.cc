// Space for a range of a file: allocate, and zero, which clears what is there.
#include "core/data/data_state.h"
#include "core/data/flush.h"
#include "core/data/growth.h"
#include "core/data/placement.h"
#include "core/data/prepare.h"
#include "core/data/range_change.h"
#include "core/data/zero.h"
#include "core/txn/covered.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {
namespace {

// The range of a file that nobody else is in (the data gate is held exclusively), with space for all of it. What it
// adds is given back unless a record names it when this ends.
class RangeSpace {
 public:
  RangeSpace(VolumeContext& volume, const OpContext& ctx, const NodeRef& node)
      : volume_(volume), ctx_(ctx), node_(node) {}
  ~RangeSpace() {
    for (const BlobId blob : blobs_) volume_.in_flight.abandon(blob);
  }
  RangeSpace(const RangeSpace&) = delete;
  RangeSpace& operator=(const RangeSpace&) = delete;

  Status map(std::uint64_t offset, std::uint64_t length) {
    STOA_TRY(lock, share_by(node_->lock, ctx_.deadline));
    STOA_CHECK_OK(require_regular(*node_));
    size_ = node_->record.size;
    pieces_ = map_file(*node_, offset, length);
    hold_ = BlobPins::hold(volume_.data->pins, pieces_);
    return {};
  }

  // Blobs of its own for what no extent covers. No record names them yet.
  Status fill_holes() {
    for (const Piece& piece : pieces_) {
      if (piece.hole()) STOA_CHECK_OK(fill(piece));
    }
    return volume_.blobs.sync(blobs_);
  }
  // Space for what the file has already.
  Status keep_pieces() {
    for (const Piece& piece : pieces_) {
      if (!piece.hole()) STOA_CHECK_OK(volume_.blobs.allocate(piece.blob, piece.blob_offset, piece.length));
    }
    return {};
  }
  // What is behind the end is zeros already. No piece is shared.
  Status clear(const Deadline& by) {
    for (const Piece& piece : pieces_) {
      if (piece.hole() || piece.file_offset >= size_) continue;
      const std::uint64_t length = std::min(piece.end(), size_) - piece.file_offset;
      const std::uint64_t content_end = piece.blob_offset + (size_ - piece.file_offset);
      STOA_CHECK_OK(
          punch_blob(volume_, node_->id, piece.file_offset, piece.blob, piece.blob_offset, length, content_end, by));
    }
    return {};
  }

  Status stage(MetaTxn& txn, Inode& next, std::uint64_t end) {
    if (next.layout.extents.size() + added_.extents.size() > kExtentsMax)
      return fail(Errc::kNoSpace, "the file would be in too many pieces");
    for (const Extent& extent : added_.extents) {
      next.layout.insert(extent);
      txn.reference(extent.blob, +1);
    }
    // What lies behind the end in them is not summed, and may be written before the next flush.
    if (!added_.extents.empty()) txn.records().mark_dirty(next.id);
    next.allocated = std::max(next.allocated, estimate_allocated(next.layout, std::max(next.size, end)));
    return {};
  }

 private:
  Status fill(const Piece& piece) {
    Neighbours around;
    {
      STOA_TRY(lock, share_by(node_->lock, ctx_.deadline));
      around = neighbours(*node_, piece.file_offset);
    }
    for (const Room& room : rooms_for(piece.file_offset, piece.length, around.floor, around.ceiling)) {
      STOA_TRY(blob, reserve_blob(volume_, room.length));
      blobs_.push_back(blob);
      added_.insert({room.file_offset, room.length, blob, 0});
      const std::uint64_t from = std::max(room.file_offset, piece.file_offset);
      const std::uint64_t to = std::min(room.file_offset + room.length, piece.end());
      STOA_CHECK_OK(volume_.blobs.allocate(blob, from - room.file_offset, to - from));
    }
    return {};
  }

  VolumeContext& volume_;
  const OpContext& ctx_;
  const NodeRef& node_;
  std::uint64_t size_ = 0;
  std::vector<Piece> pieces_;
  BlobPins::Hold hold_;
  Layout added_;
  std::vector<BlobId> blobs_;  // of `added_`
};

// Growth that is charged before any byte changes, so that a refusal leaves them all. The charge follows the file until
// it becomes its size, or is given back.
class EarlyGrowth {
 public:
  EarlyGrowth(VolumeContext& volume, const NodeRef& node) : volume_(volume), node_(node) {}
  ~EarlyGrowth() {
    if (!promised_) return;
    const std::shared_lock tree_lock(volume_.tree_lock);
    const std::lock_guard lock(node_->lock);
    end_promise(false);
  }
  EarlyGrowth(const EarlyGrowth&) = delete;
  EarlyGrowth& operator=(const EarlyGrowth&) = delete;

  Status begin(const OpContext& ctx, std::uint64_t end) {
    STOA_TRY(tree_lock, share_by(volume_.tree_lock, ctx.deadline));
    STOA_TRY(locks, NodeLocks::take(ctx, {node_}));
    STOA_CHECK_OK(require_regular(*node_));
    if (end <= node_->record.size) return {};
    if (node_->writing == nullptr) node_->writing = std::make_unique<Writing>();
    STOA_CHECK_OK(begin_growth(volume_, *node_, end));
    ++node_->writing->under_way;
    end_ = end;
    promised_ = true;
    return {};
  }

  // Both with the tree lock and the node's: the size in memory, to be committed now, and back when that fails.
  void take() {
    size_ = node_->record.size;
    if (promised_) end_promise(true);
  }
  void undo() {
    const Usage grown{.bytes = static_cast<std::int64_t>(node_->record.size - size_)};
    if (is_zero(grown)) return;
    node_->record.size = size_;
    node_->pending = node_->pending + -grown;
    volume_.ledger.give_back(node_->charge_target(), grown);
  }

 private:
  void end_promise(bool grown) {
    promised_ = false;
    --node_->writing->under_way;
    end_growth(volume_, *node_, end_, grown);
    if (node_->writing->idle()) node_->writing.reset();
  }

  VolumeContext& volume_;
  const NodeRef& node_;
  std::uint64_t end_ = 0, size_ = 0;
  bool promised_ = false;
};

// What is refused anyway takes no space on the disks meanwhile. Whether there is room is decided with the change
// itself.
Status may_allocate(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const RangeRequest& req) {
  if (req.length > volume.blobs.space().total) return fail(Errc::kNoSpace);
  STOA_TRY(tree_lock, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  const std::uint64_t end = req.offset + req.length;
  if (end <= node->record.size) return {};
  return volume.ledger.check(node->charge_target(), {.bytes = static_cast<std::int64_t>(end - node->record.size)});
}

// Nobody else is in the file from here on, and what was written to it is committed in blobs of its own.
Result<std::unique_lock<RwLock>> begin_range(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                             const RangeRequest& req) {
  if (req.length > kFileBytesMax || req.offset > kFileBytesMax - req.length) return fail(Errc::kFileTooBig);
  if (req.length == 0) return fail(Errc::kInvalid);
  STOA_CHECK_OK(check_range_change(volume, ctx, node, req.offset));
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_CHECK_OK(volume.state.before_io(ctx, req.id, req.offset, req.length, true));
  STOA_CHECK_OK(before_change(volume, ctx, node));
  STOA_CHECK_OK(prepare_locked(volume, ctx, node, req.offset, req.length));
  STOA_CHECK_OK(flush_file(volume, ctx, node));
  STOA_CHECK_OK(may_allocate(volume, ctx, node, req));
  return std::move(gate);
}

}  // namespace

Result<RangeReply> allocate(VolumeContext& volume, const OpContext& ctx, const RangeRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(gate, begin_range(volume, ctx, node, req));
  // Space first, in blobs of its own where there are none, then the record that names them.
  RangeSpace space(volume, ctx, node);
  STOA_CHECK_OK(space.map(req.offset, req.length));
  STOA_CHECK_OK(space.keep_pieces());
  STOA_CHECK_OK(space.fill_holes());
  const std::uint64_t end = req.offset + req.length;
  const RangeEffect effect = req.keep_size ? RangeEffect::kSpace : RangeEffect::kContent;
  return change_range(volume, ctx, node, req.offset, effect, [&](MetaTxn& txn, Inode& next) -> Status {
    if (!req.keep_size && end > next.size) {
      STOA_CHECK_OK(txn.reserve(node->charge_target(), {.bytes = static_cast<std::int64_t>(end - next.size)}));
      next.size = end;
    }
    return space.stage(txn, next, end);
  });
}

Result<RangeReply> zero(VolumeContext& volume, const OpContext& ctx, const RangeRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(gate, begin_range(volume, ctx, node, req));
  const std::uint64_t end = req.offset + req.length;
  EarlyGrowth growth(volume, node);
  if (!req.keep_size) STOA_CHECK_OK(growth.begin(ctx, end));
  RangeSpace space(volume, ctx, node);
  STOA_CHECK_OK(space.map(req.offset, req.length));
  STOA_CHECK_OK(space.fill_holes());
  // Nothing may stop it from the first byte on: what is gone must be known.
  STOA_CHECK_OK(check_range_change(volume, ctx, node, req.offset));
  const OpContext begun = ctx.after_change();
  STOA_CHECK_OK(space.clear(begun.deadline));
  STOA_CHECK_OK(space.keep_pieces());
  auto reply = run_mutation(volume, begun, [&](CommitTicket& ticket) -> Result<RangeReply> {
    STOA_TRY(locks, NodeLocks::take(begun, {node}));
    STOA_CHECK_OK(require_regular(*node));
    const BeforeAttributes before = node->record.before();
    growth.take();
    auto changed = change_range_locked(volume, begun, node, req.offset, RangeEffect::kContent, ticket,
                                       [&](MetaTxn& txn, Inode& next) { return space.stage(txn, next, end); });
    if (!changed) {
      growth.undo();
      return changed;
    }
    changed->before = before;
    return changed;
  });
  ctx.pending.merge(begun.pending);
  return reply;
}

}  // namespace stoa::core
