// The depth limit of directories. Every change is counted in all directories above it, so without a limit one user's
// deep tree would slow down everybody.
#pragma once

#include <cstdint>

#include "core/txn/volume_context.h"

namespace stoa::core {

// Directories below the root of the volume: as deep as a path of 4096 bytes (PATH_MAX) can name.
inline constexpr std::uint32_t kLevelsMax = 2048;

// The largest nesting depth of the directories that an account counts. Needs the tree lock.
std::uint32_t levels_below(VolumeContext& volume, const AccountRef& dir);
// Raises that depth, in all accounts that count them. Needs the tree lock.
void note_levels(const AccountRef& dir, std::uint32_t levels);
// Whether this many levels may be added below a directory. kNameTooLong. Needs the tree lock.
Status require_depth(const AncestryRef& dir, std::uint32_t levels);

// Checks a directory move: nothing may get deeper beyond the limit; directories beyond it may move up.
Status require_depth_of_move(VolumeContext& volume, const Node& moved, const Node& to);

}  // namespace stoa::core
