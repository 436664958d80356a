// The end of a directory: shared by rmdir, rename-over and the pruning of directories implied by keys.
#pragma once

#include "core/txn/meta_txn.h"

namespace stoa::core {

// kNotEmpty unless the locked directory is empty to POSIX protocols. That is, it has no entry, or only an empty
// folder marker (the object whose key is the directory's name and a '/').
Status require_empty(VolumeContext& volume, const NodeRef& dir);

// Stages the end of a directory that is so empty, and its marker's. kNotEmpty also while it has a recycle bin
// (discard_empty_bin()). It and its parent are locked.
Status stage_remove_directory(VolumeContext& volume, MetaTxn& txn, const NodeRef& victim);

}  // namespace stoa::core
