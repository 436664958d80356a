// The directory whose files leases cover a file, and the questions to the gate of leases that need it.
#pragma once

#include <vector>

#include "core/txn/volume_view.h"

namespace stoa::core {

// That of the only name of a file; kNoFile for directories, and for files with more names or none. Reads nothing, but
// for a file whose usage was not allowed to follow its last name (kCountsElsewhere). The record is of a locked node.
Result<FileId> covering_directory(const VolumeView& volume, const Inode& record);
// Those of all names that the store has, one for each name. Files of a few links: reads them all.
Result<std::vector<FileId>> directories_of_names(const VolumeView& volume, FileId file);
Result<Touched> touched(const VolumeView& volume, const Inode& record);

// LeaseGate::before_look(), before_mutate() and behind_mutate() of one locked node.
inline Status before_look(const VolumeView& volume, const OpContext& ctx, const Inode& record) {
  if (!volume.state.asks_of_looks()) return {};
  STOA_TRY(file, touched(volume, record));
  return volume.state.before_look(ctx, file);
}
inline Status before_change(const VolumeView& volume, const OpContext& ctx, const Inode& record) {
  if (!volume.state.asks_of_changes(ctx)) return {};
  STOA_TRY(file, touched(volume, record));
  return volume.state.before_mutate(ctx, std::span(&file, 1));
}
inline Status behind_change(const VolumeView& volume, const OpContext& ctx, const Inode& record) {
  if (!volume.state.knows_files_leases()) return {};
  STOA_TRY(file, touched(volume, record));
  return volume.state.behind_mutate(ctx, file);
}
// The same of a node that is not locked by the caller.
Status before_look(const VolumeView& volume, const OpContext& ctx, FileId file);
Status before_change(const VolumeView& volume, const OpContext& ctx, const NodeRef& node);

}  // namespace stoa::core
