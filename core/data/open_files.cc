#include "core/data/open_files.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "base/log.h"
#include "core/data/block_sums.h"
#include "core/data/content.h"
#include "core/data/placement.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

constexpr std::size_t kRecoveredAtOnce = 10'000;  // files in one change of the store
constexpr std::uint64_t kTailBlockBytes = 4096;   // of a host file: what holds data is told by whole blocks

// Whether a byte of the range may be other than zero. Most files were written up to their end and no further: that
// costs one question to the file system, and one block that is read where the file ends within it.
Result<bool> holds_bytes(VolumeContext& volume, BlobId blob, std::uint64_t from, std::uint64_t end) {
  STOA_TRY(data, volume.blobs.seek(blob, from, end, true));
  if (data >= end) return false;
  const std::uint64_t length = std::min(end - data, kTailBlockBytes - data % kTailBlockBytes);
  // Asked before the block is read: what the kernel reads ahead may count as data.
  STOA_TRY(more, volume.blobs.seek(blob, data + length, end, true));
  if (more < end) return true;
  std::array<std::byte, kTailBlockBytes> block{};
  const auto tail = std::span(block).first(length);
  if (!volume.blobs.read(blob, data, tail)) return true;  // punching meets the same error, and tells it
  return std::ranges::any_of(tail, [](std::byte b) { return b != std::byte{}; });
}

// Behind `from` no sum covers anything any more.
Status cut_sums(VolumeContext& volume, RecordChanges& changes, BlobId blob, std::uint64_t from) {
  if (from < kSumRowBytes && volume.blobs.capacity(blob) <= kSumRowBytes) {  // one row: no scan
    STOA_TRY(row, load_sum_row(volume.kv, blob, 0));
    if (!row || row->bytes <= from) return {};
  }
  return stage_cut_sums(volume.kv, changes, blob, from);
}

// The files that were being written, a piece at a time.
class OpenFilesRecovery {
 public:
  explicit OpenFilesRecovery(VolumeContext& volume) : volume_(volume) {}

  Status run() {
    const std::string prefix(keys::kOpenPrefix);
    std::string from = prefix;
    for (bool more = true; more;) {
      std::vector<FileId> piece;
      {
        const auto it = volume_.kv.scan(Family::kState, from, keys::behind_prefix(prefix));
        for (; it->valid() && piece.size() < kRecoveredAtOnce; it->next()) {
          piece.push_back(keys::open_file_of(it->key()));
          from = std::string(it->key()) + '\0';
        }
        STOA_CHECK_OK(it->status());
        more = it->valid();
      }
      STOA_CHECK_OK(recover(piece));
    }
    if (files_ != 0) {
      log_info("data", "files were being written when the server stopped", {{"files", files_}, {"zeroed", zeroed_}});
    }
    return {};
  }

 private:
  Status recover(const std::vector<FileId>& piece) {
    RecordChanges changes;
    std::vector<BlobId> punched;
    for (const FileId id : piece) {
      auto inode = load_inode(volume_.kv, id);
      if (!inode && inode.error().code == Errc::kStale) {
        changes.remove_open_mark(id);
        continue;
      }
      if (!inode) return fail(inode.error());
      ++files_;
      STOA_CHECK_OK(zero_tail(*inode, changes, punched));
      advance_version(*inode, now_);
      inode->change = std::max(inode->change + 1, inode->data_version);
      changes.put_inode(*inode);
    }
    if (changes.empty()) return {};
    zeroed_ += punched.size();
    STOA_CHECK_OK(volume_.blobs.sync(punched));
    return volume_.committer.write_durably(changes.batch());
  }

  Status zero_tail(const Inode& inode, RecordChanges& changes, std::vector<BlobId>& punched) {
    for (const Extent& extent : inode.layout.extents) {
      if (extent.shared || extent.end() <= inode.size) continue;
      const std::uint64_t from = extent.blob_offset + std::max(extent.file_offset, inode.size) - extent.file_offset;
      const std::uint64_t end = extent.blob_offset + extent.length;
      // Behind the first cut of a blob nothing is covered any more.
      if (cut_.insert(extent.blob).second) STOA_CHECK_OK(cut_sums(volume_, changes, extent.blob, from));
      auto done = holds_bytes(volume_, extent.blob, from, end);
      if (done && !*done) continue;
      const Status zeroed = done ? volume_.blobs.punch(extent.blob, from, end - from) : Status(fail(done.error()));
      // A blob that is gone or damaged is the verifier's to tell; it must not keep the volume from opening.
      if (!zeroed && zeroed.error().code != Errc::kCorrupt) return zeroed;
      if (zeroed) punched.push_back(extent.blob);
    }
    return {};
  }

  VolumeContext& volume_;
  const Timestamp now_ = volume_.time.wall();
  std::set<BlobId> cut_;
  std::uint64_t files_ = 0, zeroed_ = 0;
};

}  // namespace

Status recover_open_files(VolumeContext& volume) {
  return OpenFilesRecovery(volume).run();
}

}  // namespace stoa::core
