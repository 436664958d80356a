// The end of a directory: shared by rmdir, rename-over and the pruning of directories implied by keys.
#pragma once

#include "core/namespace/meta_txn.h"

namespace stoa::core {

// kNotEmpty unless POSIX doors see nothing in the directory: it has no entry, or only an empty folder marker (the object
// whose key is the directory's name and a '/'), which goes with it. It and its parent are locked.
Status stage_remove_directory(Tree& tree, MetaTxn& txn, const NodeRef& victim);

}  // namespace stoa::core
