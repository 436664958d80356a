#include "core/access/access.h"
#include "core/namespace/operations.h"

namespace stoa::core {

Result<GetattrReply> getattr(Tree& tree, const OpContext& ctx, const GetattrRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  const std::shared_lock lock(node->lock);
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(tree.state.before_look(ctx, req.id));
  return GetattrReply{node->record.attributes()};
}

Result<AccessReply> access(Tree& tree, const OpContext& ctx, const AccessRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  const std::shared_lock lock(node->lock);
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(tree.state.before_look(ctx, req.id));
  return AccessReply{access_bits(ctx, node->record) & req.wanted, node->record.attributes()};
}

}  // namespace stoa::core
