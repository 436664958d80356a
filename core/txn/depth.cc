#include "core/txn/depth.h"

#include <algorithm>

#include "base/assert.h"

#include "core/txn/in_bin.h"

namespace stoa::core {

std::uint32_t levels_below(VolumeContext& volume, const AccountRef& dir) {
  const std::int64_t directories = std::max<std::int64_t>(volume.ledger.read(dir).usage.directories, 0);
  const std::uint32_t height = dir->height.load(std::memory_order_relaxed);
  return directories < height ? static_cast<std::uint32_t>(directories) : height;
}

Status require_depth(const AncestryRef& dir, std::uint32_t levels) {
  if (depth_of(dir) + levels <= kLevelsMax) return {};
  return fail(Cause::kTooDeep, kLevelsMax);
}

void note_levels(const AccountRef& dir, std::uint32_t levels) {
  STOA_ASSERT(levels > 0, "a level is noted with a directory");
  for (const Account* at = dir.get(); at != nullptr; at = at->parent.get(), ++levels) {
    std::uint32_t known = at->height.load(std::memory_order_relaxed);
    if (known >= levels) return;  // and so do those above know
    while (known < levels && !at->height.compare_exchange_weak(known, levels, std::memory_order_relaxed)) {
    }
  }
}

Status require_depth_of_move(VolumeContext& volume, const Node& moved, const Node& to) {
  if (in_bin(volume, to.ancestry) || depth_of(to.ancestry) < depth_of(moved.ancestry)) return {};
  return require_depth(to.ancestry, 1 + levels_below(volume, moved.account));
}

}  // namespace stoa::core
