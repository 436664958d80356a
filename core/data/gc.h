// Background work on data: adoption at start, the gc queue, lazy attributes, scrubbing.
#pragma once

#include "core/namespace/tree.h"

namespace stoa::core {

// At start: tells the blob store which blobs are in use or wait in the gc queue; everything else is free again.
Status adopt_blobs(Tree& tree);
// Frees every blob of the gc queue that nobody uses any more. Blocks for the disk.
Status collect_garbage(Tree& tree);
// Commits the attributes of files written without a promise of durability. Applied, not synced.
Status flush_lazy(Tree& tree);
// Verifies every recorded checksum once; damage goes to the log and to damage_found().
Status scrub_all(Tree& tree);
std::vector<std::string> damage_found(const Tree& tree);

}  // namespace stoa::core
