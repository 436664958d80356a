// Files that a caller names by an id that it was given once, through a directory that is published to it
// (OpContext::root). Where that directory is now, and what is below it now, decides: what has left it is kStale until
// it comes back.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// The node of a file within reach: the root, or what is below it. A file with several names is within reach while one
// of them is; one without any, where it counts (Inode::parent). Next to free, unless directories move or the file
// counts elsewhere. With none of the locks of tree.h held. kStale: it is gone, or out of reach.
Result<NodeRef> reach(const VolumeView& volume, const OpContext& ctx, FileId id);

}  // namespace stoa::core
