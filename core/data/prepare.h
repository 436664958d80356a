// Preparing a file for writing in place: rare steps that need exclusive access to the file.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Whether writing [offset, offset + length) has to wait for prepare_write(). The node is locked.
bool needs_prepare(VolumeContext& volume, const Node& node, std::uint64_t offset, std::uint64_t length);

// Takes the data gate exclusively and prepares the range as needed. Moves inline content to a blob; gives the file
// copies of shared bytes; lengthens an extent that was cut, with zeros. Calling it needlessly does nothing.
Status prepare_write(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset,
                     std::uint64_t length);

// The same with the gate held exclusively by the caller, for ranges that need no extent to be lengthened.
Status prepare_locked(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset,
                      std::uint64_t length);

}  // namespace stoa::core
