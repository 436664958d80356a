// Membership of recycle bins, and the restrictions on files in them.
#pragma once

#include <string_view>

#include "core/api/recycle.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// Whether files with this ancestry are in a bin. Needs the tree lock, or the lock of the node whose ancestry it is.
bool in_bin(const VolumeView& volume, const AncestryRef& ancestry);
// kReadOnly for files and directories in a bin, and for bins and users' bins themselves. The node is locked.
Status require_outside_bin(const VolumeView& volume, const Node& node);
// The same for the content of a file. An open from before the deletion still allows writing (OpContext::open).
Status require_content_outside_bin(const VolumeView& volume, const OpContext& ctx, const Node& node);
// Whether the file is in a bin now. No lock is held.
Result<bool> is_recycled(const VolumeView& volume, const OpContext& ctx, const NodeRef& node);
// The bin that the directory is a user's bin of; kNoFile: it is none. No lock is held.
Result<FileId> bin_of_user_bin(const VolumeView& volume, const OpContext& ctx, Node& dir);
// Whether `name` is that of the bin in this locked directory, where no entry may be made of it.
inline bool names_bin(const Node& dir, std::string_view name) {
  return name == kRecycleName && dir.record.has(kHasBin);
}

}  // namespace stoa::core
