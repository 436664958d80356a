#include "core/data/verify.h"

#include <bit>

#include "base/crc32c.h"
#include "base/log.h"
#include "core/data/block_sums.h"
#include "core/data/content.h"
#include "core/data/data_state.h"
#include "core/data/file_view.h"
#include "core/data/sum_change.h"

namespace stoa::core {
namespace {

// The sums of some blocks of a row, as of one moment.
struct Sums {
  std::uint64_t known = 0;
  std::array<std::uint32_t, kSumRowBlocks> sums{};
  std::array<std::uint32_t, kSumRowBlocks> lengths{};
};

Result<Sums> load_sums(const VolumeView& volume, BlobId blob, std::uint64_t row_number, std::uint64_t wanted) {
  Sums found;
  if (const LiveRowRef live = volume.data->sums.peek(blob, row_number); live != nullptr) {
    std::unique_lock lock(live->mutex);
    live->changed.wait(lock, [&] { return (live->busy & wanted) == 0; });
    if (live->loaded) {
      found.known = live->known;
      found.sums = live->sums;
      found.lengths = live->lengths;
      // The store may have the sum of the first bytes of others: the file was lengthened.
      if ((wanted & ~live->known & live->stored) == 0) return found;
    }
  }
  STOA_TRY(row, load_sum_row(volume.kv, blob, row_number));
  if (!row) return found;
  for (std::size_t i = 0; i < row->blocks(); ++i) {
    if ((row->known & ~found.known & std::uint64_t{1} << i) == 0) continue;
    found.known |= std::uint64_t{1} << i;
    found.sums[i] = row->sums[i];
    found.lengths[i] = static_cast<std::uint32_t>(row->covered(i));
  }
  return found;
}

// Whether the stored bytes of the block differ from its sum. The sum may have changed since the caller looked.
Result<bool> is_damaged(const VolumeView& volume, BlobId blob, std::uint64_t row_number, std::uint64_t block) {
  const std::uint64_t bit = std::uint64_t{1} << block;
  const auto live_row = [&] {
    LiveRowRef live = volume.data->sums.peek(blob, row_number);
    if (live == nullptr) return live;
    const std::lock_guard lock(live->mutex);
    return live->loaded ? live : nullptr;
  };
  for (;;) {
    const std::uint32_t stamp = volume.data->verified.blocks(blob, row_number).stamp;
    if (const LiveRowRef live = live_row(); live != nullptr) {
      // No writer changes it meanwhile.
      HeldBlocks held(live, bit);
      STOA_CHECK_OK(held.hold({}));
      bool known = false;
      {
        const std::lock_guard lock(live->mutex);
        if (live->gone) continue;
        known = (live->known & bit) != 0;
      }
      Status sound;
      if (!known) {
        sound = verify_stored_part(volume, *live, block);
      } else if (const auto read = read_verified(volume, *live, block); !read) {
        sound = fail(read.error());
      }
      if (!sound && sound.error().code != Errc::kCorrupt) return fail(sound.error());
      return !sound;
    }
    STOA_TRY(row, load_sum_row(volume.kv, blob, row_number));
    if (!row || (row->known & bit) == 0) return false;
    std::vector<std::byte> bytes(row->covered(block));
    STOA_CHECK_OK(volume.blobs.read(blob, row_number * kSumRowBytes + block * kSumBlockBytes, bytes));
    if (crc32c(bytes) == row->sums[block]) return false;
    // A writer has the row in memory first, and changes the stamp when it is done.
    if (live_row() == nullptr && volume.data->verified.blocks(blob, row_number).stamp == stamp) return true;
  }
}

Status verify_row(const VolumeView& volume, FileId id, const Piece& piece, std::uint64_t row_number, bool again) {
  const std::uint64_t row_begin = row_number * kSumRowBytes;
  const std::uint64_t from = std::max(piece.blob_offset, row_begin);
  const std::uint64_t to = std::min(piece.blob_offset + piece.length, row_begin + kSumRowBytes);
  const std::uint64_t first = (from - row_begin) / kSumBlockBytes;
  const std::uint64_t last = (to - 1 - row_begin) / kSumBlockBytes;
  const VerifiedTable::Known known = volume.data->verified.blocks(piece.blob, row_number);
  const std::uint64_t wanted = block_bits(first, last) & ~(again ? 0 : known.blocks);
  if (wanted == 0) return {};
  STOA_TRY(sums, load_sums(volume, piece.blob, row_number, wanted));
  std::uint64_t good = 0;
  std::unique_ptr<std::byte[]> buffer;
  Status result;
  for (std::uint64_t some = wanted; some != 0; some &= some - 1) {
    const auto block = static_cast<std::size_t>(std::countr_zero(some));
    const std::uint64_t at = block * kSumBlockBytes;
    bool bad = false;
    if ((sums.known >> block & 1) != 0 && sums.lengths[block] != 0) {
      if (buffer == nullptr) buffer = std::make_unique_for_overwrite<std::byte[]>(kSumBlockBytes);
      const std::span bytes(buffer.get(), sums.lengths[block]);
      STOA_CHECK_OK(volume.blobs.read(piece.blob, row_begin + at, bytes));
      volume.data->verified_bytes.add(bytes.size());
      if (crc32c(bytes) != sums.sums[block]) {
        // It may have been written since its sum was looked up.
        STOA_TRY(damaged, is_damaged(volume, piece.blob, row_number, block));
        bad = damaged;
      }
    }
    if (!bad) {
      good |= std::uint64_t{1} << block;
      continue;
    }
    const std::uint64_t begin = std::max(from, row_begin + at);
    report_damage(volume, id, piece.file_offset + (begin - piece.blob_offset),
                  std::min(row_begin + at + kSumBlockBytes, to) - begin);
    result = fail(Cause::kContentDamaged);
  }
  volume.data->verified.add(piece.blob, row_number, good, known.stamp);
  return result;
}

Status verify(const VolumeView& volume, FileId id, std::span<const Piece> pieces, bool again) {
  Status result;
  for (const Piece& piece : pieces) {
    if (piece.hole()) continue;
    const std::uint64_t last = (piece.blob_offset + piece.length - 1) / kSumRowBytes;
    for (std::uint64_t row = piece.blob_offset / kSumRowBytes; row <= last; ++row) {
      Status done = verify_row(volume, id, piece, row, again);
      if (done) continue;
      if (!again) return done;
      result = std::move(done);  // a scrub wants to know all that is damaged
    }
  }
  return result;
}

}  // namespace

Status verify_pieces(const VolumeView& volume, FileId id, std::span<const Piece> pieces) {
  return verify(volume, id, pieces, false);
}

bool verify_file(const VolumeView& volume, const NodeRef& node, const std::function<bool(std::uint64_t bytes)>& go_on) {
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
      if (reads_inline(*node)) return load_inline(volume, node->id).has_value();  // reports damage by itself
      if (at >= record.size) break;
      length = std::min(kSumRowBytes, record.size - at);
      pieces = map_file(*node, at, length);
      hold = BlobPins::hold(volume.data->pins, pieces);
    }
    const Status good = verify(volume, node->id, pieces, true);
    if (!good && good.error().code != Errc::kCorrupt)
      report_damage(volume, node->id, at, length);  // a disk cannot read it
    sound = sound && good.has_value();
    std::uint64_t read = 0;
    for (const Piece& piece : pieces) read += piece.hole() ? 0 : piece.length;
    gate.unlock();  // go_on() may take its time
    more = go_on(read);
  }
  return sound;
}

void report_damage(const VolumeView& volume, FileId id, std::uint64_t offset, std::uint64_t length) {
  volume.data->damaged_blocks.add();
  if (!volume.data->add_damage({id, offset, length})) return;
  log_error("data", "stored bytes do not match their checksum",
            {{"inode", static_cast<std::uint64_t>(id)}, {"offset", offset}, {"bytes", length}});
}

}  // namespace stoa::core
