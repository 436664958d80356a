#include "core/data/part.h"

#include <set>

#include "core/access/access.h"
#include "core/data/data_state.h"
#include "core/data/flush.h"
#include "core/txn/covered.h"
#include "core/txn/meta_txn.h"

namespace stoa::core {
namespace {

// The number of bytes to share of the locked file, if allowed.
Result<std::uint64_t> part_length(const OpContext& ctx, const Node& node, const ConcatenatePart& wanted, bool stays) {
  STOA_CHECK_OK(require_live(node));
  const Inode& file = node.record;
  if (file.type != FileType::kRegular) return fail(Errc::kWrongType);
  if (stays) STOA_CHECK_OK(require_read(ctx, file));
  if (wanted.data_version.value_or(file.data_version) != file.data_version) return fail(Errc::kStale, "a part changed");
  if (wanted.offset > file.size) return fail(Errc::kInvalid, "behind the end of a part");
  const std::uint64_t rest = file.size - wanted.offset;
  if (wanted.length.value_or(rest) > rest) return fail(Errc::kInvalid, "behind the end of a part");
  return wanted.length.value_or(rest);
}

Result<Part> snapshot(VolumeContext& volume, const OpContext& ctx, const Node& node, const ConcatenatePart& wanted,
                      bool stays) {
  STOA_TRY(length, part_length(ctx, node, wanted, stays));
  STOA_CHECK_OK(before_look(volume, ctx, node.record));
  STOA_CHECK_OK(volume.state.before_io(ctx, node.id, wanted.offset, length, false));
  const Inode& file = node.record;
  Part part{.data_version = file.data_version, .length = length};
  if (file.has(kContentInline)) {
    part.is_inline = true;
    STOA_TRY(bytes, load_inline(volume, file.id));
    if (wanted.offset < bytes.size()) part.inline_bytes = bytes.substr(wanted.offset, part.length);
    return part;
  }
  part.checksummed = file.has(kChecksummed);
  part.pieces = file.layout.map(wanted.offset, part.length);
  part.hold = BlobPins::hold(volume.data->pins, part.pieces);
  for (Piece& piece : part.pieces) piece.file_offset -= wanted.offset;
  return part;
}

// From now on neither file writes these bytes in place.
Status mark_shared(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const ConcatenatePart& wanted) {
  STOA_TRY(tree_lock, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(locks, NodeLocks::take(ctx, {node}));
  STOA_TRY(length, part_length(ctx, *node, wanted, true));
  Inode next = node->record;
  share_range(next.layout, wanted.offset, length);
  if (next.layout == node->record.layout) return {};
  MetaTxn txn(volume, ctx);
  txn.put_inode(node, std::move(next), Visible::kNo);
  STOA_CHECK_OK(txn.commit());
  return {};
}

// Pieces that lie one behind the other in the same blob become one extent again.
void append_extent(Layout& layout, const Extent& extent) {
  if (!layout.extents.empty()) {
    Extent& last = layout.extents.back();
    if (last.end() == extent.file_offset && last.blob == extent.blob && last.shared == extent.shared &&
        last.blob_offset + last.length == extent.blob_offset) {
      last.length += extent.length;
      return;
    }
  }
  layout.extents.push_back(extent);
}

Status append_part(VolumeContext& volume, StagedContent& joined, const Part& part) {
  if (part.length > kFileBytesMax - joined.size) return fail(Errc::kFileTooBig);
  if (part.is_inline) {
    const std::uint64_t end = joined.size + part.length;
    if (!part.inline_bytes.empty()) {
      joined.checksummed = true;
      STOA_CHECK_OK(append_blob(volume, joined, std::as_bytes(std::span(part.inline_bytes))));
    }
    joined.size = end;
    return {};
  }
  joined.checksummed = joined.checksummed || part.checksummed;
  for (const Piece& piece : part.pieces) {
    if (piece.hole()) continue;
    append_extent(joined.layout,
                  {joined.size + piece.file_offset, piece.length, piece.blob, piece.blob_offset, piece.shared});
  }
  joined.size += part.length;
  return {};
}

}  // namespace

void share_range(Layout& layout, std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return;
  std::set<BlobId> blobs;
  for (const Extent& extent : layout.extents) {
    if (extent.file_offset < offset + length && extent.end() > offset) blobs.insert(extent.blob);
  }
  for (Extent& extent : layout.extents) extent.shared |= blobs.contains(extent.blob);
}

Result<Part> take_part(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, const ConcatenatePart& wanted,
                       bool stays) {
  // No other thread is in the file while it is flushed, marked and looked at.
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_CHECK_OK(flush_file(volume, ctx, node));
  if (stays) STOA_CHECK_OK(mark_shared(volume, ctx, node, wanted));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  return snapshot(volume, ctx, *node, wanted, stays);
}

Result<StagedContent> content_of_parts(VolumeContext& volume, std::span<const Part> parts) {
  std::string bytes;  // the whole, when it is inline again
  bool few = true;
  for (const Part& part : parts) {
    few = few && (part.is_inline || part.length == 0) && bytes.size() + part.length <= volume.options.inline_bytes_max;
    if (!few) break;
    bytes += part.inline_bytes;
    bytes.resize(bytes.size() + (part.length - part.inline_bytes.size()));
  }
  if (few) return content_of_bytes(volume, std::as_bytes(std::span(bytes)));

  StagedContent joined;
  joined.is_inline = false;
  Status done;
  for (const Part& part : parts) {
    done = append_part(volume, joined, part);
    if (!done) break;
  }
  if (done) done = volume.blobs.sync(joined.own_blobs);
  if (done && joined.layout.extents.size() > kExtentsMax) done = fail(Errc::kTooLarge, "too many extents");
  if (!done) {
    discard_content(volume, joined);
    return fail(done.error());
  }
  joined.allocated = estimate_allocated(joined.layout, joined.size);
  return joined;
}

}  // namespace stoa::core
