// Reachability of a file named by an id, through the exported directory (OpContext::root). The present tree decides: a
// file that has left the directory is kStale until it comes back.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// The node of a file within reach: the root, or a file below it. A file with several names is within reach while one
// of them is; one without any, where it counts (Inode::parent). Next to free, unless directories move or the file
// counts elsewhere. With none of the locks of tree.h held. kStale: it is gone, or out of reach.
Result<NodeRef> reach(const VolumeView& volume, const OpContext& ctx, FileId id);

}  // namespace stoa::core
