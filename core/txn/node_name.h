// One of the names of a node, as change records in the journal give it.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Finds `node.name` for a node that is locked exclusively. It stays unknown for nodes without a name: a root, a
// recycle bin, an orphan. A new file and one that is renamed know theirs; else it costs one read while the node is in
// memory.
Status find_name(VolumeContext& volume, Node& node);

}  // namespace stoa::core
