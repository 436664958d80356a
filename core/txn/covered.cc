#include "core/txn/covered.h"

#include "core/inode/load_inodes.h"
#include "core/kv/keys.h"

namespace stoa::core {

Result<FileId> covering_directory(const VolumeView& volume, const Inode& record) {
  if (record.is_directory() || record.links != 1) return kNoFile;
  if (!record.has(kCountsElsewhere)) return record.parent;
  const std::string lower = keys::id_key(record.id);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  STOA_CHECK_OK(it->status());
  return it->valid() ? keys::id_of(keys::after_id(it->key())) : kNoFile;
}

Result<std::vector<FileId>> directories_of_names(const VolumeView& volume, FileId file) {
  std::vector<FileId> directories;
  const std::string lower = keys::id_key(file);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) directories.push_back(keys::id_of(keys::after_id(it->key())));
  STOA_CHECK_OK(it->status());
  return directories;
}

Result<Touched> touched(const VolumeView& volume, const Inode& record) {
  STOA_TRY(directory, covering_directory(volume, record));
  return Touched{.file = record.id, .directory = directory, .is_directory = record.is_directory()};
}

Status before_look(const VolumeView& volume, const OpContext& ctx, FileId file) {
  if (!volume.state.asks_of_looks()) return {};
  if (const NodeRef node = volume.nodes.peek(file)) {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    return before_look(volume, ctx, node->record);
  }
  const auto record = load_inode(volume.kv, file);
  if (!record) return record.error().code == Errc::kStale ? Status{} : fail(record.error());
  return before_look(volume, ctx, *record);
}

Status before_change(const VolumeView& volume, const OpContext& ctx, const NodeRef& node) {
  if (!volume.state.asks_of_changes(ctx)) return {};
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  return before_change(volume, ctx, node->record);
}

}  // namespace stoa::core
