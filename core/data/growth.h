// The charge for the future growth of a file: taken before the write, exact while many writers grow one file at
// once. It is given back when the bytes do not come.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Both want the tree lock (shared) and the node's lock (exclusive), and a Writing in the node.
// kQuota: the file may not grow so far.
Status begin_growth(VolumeContext& volume, Node& node, std::uint64_t end);
// `grown`: the bytes up to `end` are there, and the record's size was not yet raised; raises it. Once for each
// successful begin_growth with the same `end`.
void end_growth(VolumeContext& volume, Node& node, std::uint64_t end, bool grown);

}  // namespace stoa::core
