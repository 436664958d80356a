#include "core/txn/operations.h"

#include "core/txn/covered.h"
#include "core/txn/reach.h"

namespace stoa::core {

Result<GetattrReply> getattr(const VolumeView& volume, const OpContext& ctx, const GetattrRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(before_look(volume, ctx, node->record));
  return GetattrReply{node->record.attributes()};
}

}  // namespace stoa::core
