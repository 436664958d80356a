#include "core/data/open_files.h"

#include <set>

#include "base/log.h"
#include "core/data/block_sums.h"
#include "core/data/content.h"
#include "core/data/placement.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"

namespace stoa::core {

Status recover_open_files(VolumeContext& volume) {
  const std::string prefix(keys::kOpenPrefix);
  const auto it = volume.kv.scan(Family::kState, prefix, keys::behind_prefix(prefix));
  RecordChanges changes;
  std::vector<BlobId> punched;
  std::set<BlobId> cut;
  std::uint64_t files = 0;
  const Timestamp now = volume.time.wall();
  for (; it->valid(); it->next()) {
    const FileId id = keys::open_file_of(it->key());
    auto inode = load_inode(volume.kv, id);
    if (!inode && inode.error().code == Errc::kStale) {
      changes.remove_open_mark(id);
      continue;
    }
    if (!inode) return fail(inode.error());
    ++files;
    for (const Extent& extent : inode->layout.extents) {
      if (extent.shared || extent.end() <= inode->size) continue;
      const std::uint64_t from = std::max(extent.file_offset, inode->size) - extent.file_offset;
      // Behind the first cut of a blob nothing is covered any more.
      if (cut.insert(extent.blob).second)
        STOA_CHECK_OK(stage_cut_sums(volume.kv, changes, extent.blob, extent.blob_offset + from));
      const Status zeroed = volume.blobs.punch(extent.blob, extent.blob_offset + from, extent.length - from);
      // A blob that is gone or damaged is the verifier's to tell; it must not keep the volume from opening.
      if (!zeroed && zeroed.error().code != Errc::kCorrupt) return zeroed;
      if (zeroed) punched.push_back(extent.blob);
    }
    advance_version(*inode, now);
    inode->change = std::max(inode->change + 1, inode->data_version);
    changes.put_inode(*inode);
  }
  STOA_CHECK_OK(it->status());
  if (changes.empty()) return {};
  STOA_CHECK_OK(volume.blobs.sync(punched));
  log_info("data", "files were being written when the server stopped", {{"files", files}});
  return volume.committer.write_durably(changes.batch());
}

}  // namespace stoa::core
