#include "core/txn/in_bin.h"

namespace stoa::core {

bool in_bin(const VolumeView& volume, const AncestryRef& ancestry) {
  return volume.recycle.any.load(std::memory_order_acquire) && lies_in_bin(ancestry);
}

bool is_recycled(const VolumeView& volume, const NodeRef& node) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return false;
  const std::shared_lock chain(volume.tree_lock);
  const std::shared_lock lock(node->lock);
  return in_bin(volume, node->ancestry);
}

FileId bin_of_user_bin(const VolumeView& volume, Node& dir) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return kNoFile;
  const std::shared_lock chain(volume.tree_lock);
  const AncestryRef ancestry = dir.chains_now().ancestry;
  const Ancestry* const above = ancestry->above.get();
  return above != nullptr && above->kind == Ancestry::Kind::kBin ? above->dir : kNoFile;
}

Status require_outside_bin(const VolumeView& volume, const Node& node) {
  if (in_bin(volume, node.ancestry)) return fail(Cause::kInBin);
  return {};
}

Status require_content_outside_bin(const VolumeView& volume, const OpContext& ctx, const Node& node) {
  return ctx.open != kNoOpen ? Status{} : require_outside_bin(volume, node);
}

}  // namespace stoa::core
