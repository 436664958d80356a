#include "core/txn/getattr.h"

#include "core/txn/reach.h"

namespace stoa::core {

Result<GetattrReply> getattr(VolumeContext& volume, const OpContext& ctx, const GetattrRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  const std::shared_lock lock(node->lock);
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(volume.state.before_look(ctx, req.id));
  return GetattrReply{node->record.attributes()};
}

}  // namespace stoa::core
