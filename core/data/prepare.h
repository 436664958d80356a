// Making a file ready for writing in place: what needs everybody else out of the file, and happens once in a while.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Whether writing [offset, offset + length) has to wait for prepare_write(). The node is locked.
bool needs_prepare(VolumeContext& volume, const Node& node, std::uint64_t offset, std::uint64_t length);

// Takes the data gate exclusively and, as far as the range asks for it: moves inline content to a blob; gives the file
// copies of shared bytes; makes an extent that was cut longer again, with zeros. Calling it needlessly does nothing.
Status prepare_write(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset,
                     std::uint64_t length);

// The same with the gate held exclusively by the caller, who needs no extent to be made longer.
Status prepare_locked(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset,
                      std::uint64_t length);

}  // namespace stoa::core
