#include "core/txn/in_bin.h"

namespace stoa::core {

bool in_bin(const VolumeView& volume, const AncestryRef& ancestry) {
  return volume.recycle.any.load(std::memory_order_acquire) && lies_in_bin(ancestry);
}

Result<bool> is_recycled(const VolumeView& volume, const OpContext& ctx, const NodeRef& node) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return false;
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  return in_bin(volume, node->ancestry);
}

Result<FileId> bin_of_user_bin(const VolumeView& volume, const OpContext& ctx, Node& dir) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return kNoFile;
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
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
