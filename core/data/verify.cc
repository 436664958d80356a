#include "core/data/verify.h"

#include "base/crc32c.h"
#include "base/log.h"
#include "core/data/block_sums.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/file_view.h"

namespace stoa::core {
namespace {

// Reads and compares the blocks of one row that `wanted` names; gives the bits of those that match.
Result<std::uint64_t> compare_blocks(Tree& tree, BlobId blob, std::uint64_t row_number, const SumRow& row,
                                     std::uint64_t wanted) {
  std::vector<std::byte> buffer(kSumBlockBytes);
  std::uint64_t good = 0;
  for (std::uint64_t block = 0; block < row.blocks.size(); ++block) {
    if ((wanted >> block & 1) == 0) continue;
    const std::uint64_t at = block * kSumBlockBytes;
    const auto bytes = std::span(buffer).first(std::min(kSumBlockBytes, row.bytes - at));
    STOA_CHECK_OK(tree.blobs.read(blob, row_number * kSumRowBytes + at, bytes));
    tree.data->verified_bytes.add(bytes.size());
    if (crc32c(bytes) == row.blocks[block]) good |= std::uint64_t{1} << block;
  }
  return good;
}

Status verify_row(Tree& tree, FileId id, const Piece& piece, std::uint64_t row_number, bool again) {
  const std::uint64_t row_begin = row_number * kSumRowBytes;
  const std::uint64_t from = std::max(piece.blob_offset, row_begin);
  const std::uint64_t to = std::min(piece.blob_offset + piece.length, row_begin + kSumRowBytes);
  const std::uint64_t first = (from - row_begin) / kSumBlockBytes;
  const std::uint64_t last = (to - 1 - row_begin) / kSumBlockBytes;
  const std::uint64_t wanted = (last - first == 63 ? ~std::uint64_t{0} : (std::uint64_t{1} << (last - first + 1)) - 1) << first;
  const std::uint64_t known = again ? 0 : tree.data->verified.blocks(piece.blob, row_number);
  if ((wanted & ~known) == 0) return {};
  STOA_TRY(row, load_sum_row(tree.kv, piece.blob, row_number));
  if (!row) return {};
  STOA_TRY(good, compare_blocks(tree, piece.blob, row_number, *row, wanted & ~known));
  const std::uint64_t covered = row->blocks.size() == kSumRowBlocks ? ~std::uint64_t{0} : (std::uint64_t{1} << row->blocks.size()) - 1;
  tree.data->verified.add(piece.blob, row_number, good);
  const std::uint64_t bad = wanted & ~known & covered & ~good;
  if (bad == 0) return {};
  for (std::uint64_t block = first; block <= last; ++block) {
    if ((bad >> block & 1) == 0) continue;
    const std::uint64_t at = std::max(from, row_begin + block * kSumBlockBytes);
    report_damage(tree, id, piece.file_offset + (at - piece.blob_offset), std::min(kSumBlockBytes, to - at));
  }
  return fail(Errc::kCorrupt, "stored bytes do not match their checksum");
}

Status verify(Tree& tree, FileId id, std::span<const Piece> pieces, bool again) {
  Status result;
  for (const Piece& piece : pieces) {
    if (piece.hole()) continue;
    const std::uint64_t last = (piece.blob_offset + piece.length - 1) / kSumRowBytes;
    for (std::uint64_t row = piece.blob_offset / kSumRowBytes; row <= last; ++row) {
      Status done = verify_row(tree, id, piece, row, again);
      if (done) continue;
      if (!again) return done;
      result = std::move(done);  // a scrub wants to know all that is damaged
    }
  }
  return result;
}

}  // namespace

Status verify_pieces(Tree& tree, FileId id, std::span<const Piece> pieces) { return verify(tree, id, pieces, false); }

bool verify_file(Tree& tree, const NodeRef& node, const std::function<bool(std::uint64_t bytes)>& go_on) {
  bool sound = true;
  bool more = true;
  for (std::uint64_t at = 0; more; at += kSumRowBytes) {
    // As a reader: nothing of these pieces is rearranged, or freed and written by another file, under the comparison.
    std::shared_lock gate(node->data_gate);
    std::vector<Piece> pieces;
    std::uint64_t length = 0;
    BlobPins::Hold hold;
    {
      const std::shared_lock lock(node->lock);
      const Inode& record = node->record;
      if (node->deleted) break;
      if (reads_inline(*node)) return load_inline(tree, node->id).has_value();  // tells of damage by itself
      if (!record.has(kChecksummed) || at >= record.size) break;
      length = std::min(kSumRowBytes, record.size - at);
      pieces = record.layout.map(at, length);
      hold = BlobPins::hold(tree.data->pins, pieces);
    }
    const Status good = verify(tree, node->id, pieces, true);
    if (!good && good.error().code != Errc::kCorrupt) report_damage(tree, node->id, at, length);  // a disk cannot read it
    sound = sound && good.has_value();
    std::uint64_t read = 0;
    for (const Piece& piece : pieces) read += piece.hole() ? 0 : piece.length;
    gate.unlock();  // go_on() may take its time
    more = go_on(read);
  }
  return sound;
}

void report_damage(Tree& tree, FileId id, std::uint64_t offset, std::uint64_t length) {
  tree.data->damaged_blocks.add();
  if (!tree.data->add_damage({id, offset, length})) return;
  log_error("data", "stored bytes do not match their checksum",
            {{"inode", static_cast<std::uint64_t>(id)}, {"offset", offset}, {"bytes", length}});
}

}  // namespace stoa::core
