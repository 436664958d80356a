#include "core/data/content.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {

Result<ReadlinkReply> readlink(const VolumeView& volume, const OpContext& ctx, const ReadlinkRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  Attributes attr;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_live(*node));
    if (node->record.type != FileType::kSymlink) return fail(Errc::kWrongType);
    attr = node->record.attributes();
  }
  // A symlink's target never changes, so it can be read without the lock.
  STOA_TRY(target, load_inline(volume, req.id));
  return ReadlinkReply{std::move(target), attr};
}

}  // namespace stoa::core
