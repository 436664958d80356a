#include "core/data/truncate.h"

#include "base/log.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/flush.h"
#include "core/data/zero.h"

namespace stoa::core {
namespace {
constexpr std::uint64_t kPunchedAtOnceMin = 1u << 20;  // of less the space waits until the extent is used again
}

void stage_changes(MetaTxn& txn, std::span<const Layout::Change> changes) {
  for (const Layout::Change& change : changes) {
    for (std::int32_t i = 0; i < std::abs(change.delta); ++i) txn.reference(change.blob, change.delta < 0 ? -1 : +1);
  }
}

Result<Trimmed> prepare_truncate(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t size) {
  STOA_CHECK_OK(flush_file(volume, ctx, node));
  Trimmed trimmed;
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_live(*node));
  for (const Extent& extent : node->record.layout.extents) {
    if (extent.shared || extent.file_offset >= size || extent.end() <= size) continue;
    const std::uint64_t kept = size - extent.file_offset;
    if (std::min(extent.end(), node->record.size) >= size + kPunchedAtOnceMin) {
      trimmed.pieces.push_back({size, extent.length - kept, extent.blob, extent.blob_offset + kept});
    }
  }
  trimmed.hold = BlobPins::hold(volume.data->pins, trimmed.pieces);
  return trimmed;
}

Status stage_truncate(VolumeContext& volume, MetaTxn& txn, const NodeRef& node, Inode& next, std::uint64_t size) {
  const auto delta = static_cast<std::int64_t>(size) - static_cast<std::int64_t>(next.size);
  if (delta > 0) {
    STOA_CHECK_OK(txn.reserve(node->charge_target(), {.bytes = delta}));
  } else if (delta < 0) {
    txn.release(node->charge_target(), {.bytes = -delta});
  }
  if (next.has(kContentInline)) {
    STOA_TRY(bytes, load_inline(volume, next.id));
    if (size == 0) {
      stage_no_inline(txn, next.id);
      next.flags &= ~kContentInline;
    } else if (size < bytes.size()) {
      stage_inline(txn, next.id, std::string_view(bytes).substr(0, size));
    }
    // Growing leaves the inline bytes short; the missing rest reads as zeros.
  } else if (size < next.size) {
    const Layout::Cut cut = next.layout.cut(size, kFileBytesMax - size);
    stage_changes(txn, cut.changes);
    if (next.layout.empty()) next.flags &= ~kChecksummed;
    next.allocated = std::min(next.allocated, estimate_allocated(next.layout, size));
  }
  next.size = size;
  advance_version(next, txn.now());
  return {};
}

void finish_truncate(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const Trimmed& trimmed) {
  if (trimmed.pieces.empty()) return;
  CommitTicket ticket{};
  {
    const std::shared_lock lock(node->lock);
    ticket = node->ticket;
  }
  if (!volume.committer.wait_durable(ticket, ctx.durable_by)) return;
  for (const Piece& piece : trimmed.pieces) {
    const Status done = punch_blob(volume, node->id, piece.file_offset, piece.blob, piece.blob_offset, piece.length,
                                   piece.blob_offset, ctx.durable_by);
    if (!done) {
      log_warning("data", "space of a file that was cut could not be given back", {{"error", describe(done.error())}});
    }
  }
}

}  // namespace stoa::core
