// Background work on data: adoption at start, the gc queue, lazy attributes, checksums of quiet files, scrubbing.
#pragma once

#include <functional>

#include "core/namespace/tree.h"

namespace stoa::core {

// At start: tells the blob store which blobs are in use or wait in the gc queue; everything else is free again.
Status adopt_blobs(Tree& tree);
// Frees every blob of the gc queue that nobody uses any more. Blocks for the disk.
Status collect_garbage(Tree& tree);
// Syncs and commits what was written without a promise of durability. Applied; durable with the next sync of the store.
Status flush_lazy(Tree& tree);
// Records the checksums of files that are not written any more; ends early when `stop` says so. At the pace of a scrub.
Status seal_quiet_files(Tree& tree, const std::function<bool()>& stop);
Status seal_quiet_files(Tree& tree, std::int64_t quiet_ns, const std::function<bool()>& stop);
// Verifies every recorded checksum once; damage goes to the log and to damage_found(). With `stop`: in the background, at
// the configured pace; without: as fast as it goes.
Status scrub_all(Tree& tree, const std::function<bool()>& stop);
std::vector<std::string> damage_found(Tree& tree);

}  // namespace stoa::core
