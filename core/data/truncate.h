// Changing the size of a file.
#pragma once

#include "core/namespace/meta_txn.h"

namespace stoa::core {

// Stages the new size of the locked file `node` into `next` (size, layout, flags, data_version), with its charge: kQuota,
// kNoSpace, kIo. The caller holds the data gate exclusively and stages `next`. What lies behind the new end is gone:
// growing again gives zeros.
Status stage_truncate(Tree& tree, MetaTxn& txn, const NodeRef& node, Inode& next, std::uint64_t size);

}  // namespace stoa::core
