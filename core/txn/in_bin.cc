#include "core/txn/in_bin.h"

namespace stoa::core {

bool in_bin(const Tree& tree, const AncestryRef& ancestry) {
  return tree.recycle.any.load(std::memory_order_acquire) && lies_in_bin(ancestry);
}

bool is_recycled(Tree& tree, const NodeRef& node) {
  if (!tree.recycle.any.load(std::memory_order_acquire)) return false;
  const std::shared_lock chain(tree.tree_lock);
  const std::shared_lock lock(node->lock);
  return in_bin(tree, node->ancestry);
}

FileId bin_of_shelf(Tree& tree, Node& dir) {
  if (!tree.recycle.any.load(std::memory_order_acquire)) return kNoFile;
  const std::shared_lock chain(tree.tree_lock);
  const AncestryRef ancestry = dir.home_now().ancestry;
  const Ancestry* const above = ancestry->above.get();
  return above != nullptr && above->kind == Ancestry::Kind::kBin ? above->dir : kNoFile;
}

Status require_outside_bin(const Tree& tree, const Node& node) {
  if (in_bin(tree, node.ancestry))
    return fail(Errc::kReadOnly, "what is in a recycle bin can be restored or purged only");
  return {};
}

Status require_content_outside_bin(const Tree& tree, const OpContext& ctx, const Node& node) {
  return ctx.open != kNoOpen ? Status{} : require_outside_bin(tree, node);
}

}  // namespace stoa::core
