#include "core/data/part.h"

#include "core/data/data_state.h"
#include "core/data/flush.h"
#include "core/namespace/meta_txn.h"

namespace stoa::core {
namespace {

Result<Part> picture(Tree& tree, const Node& node) {
  STOA_CHECK_OK(require_live(node));
  if (node.record.type != FileType::kRegular) return fail(Errc::kWrongType);
  Part part{node.record, {}};
  part.hold = BlobPins::hold(tree.data->pins, part.record.layout.map(0, part.record.size));
  return part;
}

// From now on neither file writes these bytes in place.
Status mark_shared(Tree& tree, const OpContext& ctx, const NodeRef& node) {
  const std::shared_lock tree_lock(tree.tree_lock);
  const NodeLocks locks({node});
  STOA_CHECK_OK(require_live(*node));
  Inode next = node->record;
  for (Extent& extent : next.layout.extents) extent.shared = true;
  if (next.layout == node->record.layout) return {};
  MetaTxn txn(tree, ctx);
  txn.put_inode(node, std::move(next));
  STOA_CHECK_OK(txn.commit());
  return {};
}

}  // namespace

Result<Part> take_part(Tree& tree, const OpContext& ctx, const NodeRef& node, bool stays) {
  // Nobody is in the file while it is flushed, marked and looked at.
  const std::lock_guard gate(node->data_gate);
  STOA_CHECK_OK(flush_file(tree, ctx, node));
  if (stays) STOA_CHECK_OK(mark_shared(tree, ctx, node));
  const std::shared_lock lock(node->lock);
  return picture(tree, *node);
}

}  // namespace stoa::core
