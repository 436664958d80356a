#include "core/access/access.h"
#include "core/recycle/bin.h"
#include "core/txn/covered.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {
// The rights that remain on files in a recycle bin or a sealed directory.
constexpr std::uint32_t kReading = kAccessRead | kAccessLookup | kAccessExecute | kAccessReadXattrs | kAccessListXattrs;
}  // namespace

Result<AccessReply> access(const VolumeView& volume, const OpContext& ctx, const AccessRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(sealed, is_sealed(volume, ctx, node));
  STOA_TRY(recycled, is_recycled(volume, ctx, node));
  const bool fixed = sealed || recycled;
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(before_look(volume, ctx, node->record));
  const std::uint32_t bits = access_bits(ctx, node->record) & (fixed ? kReading : ~0u);
  return AccessReply{bits & req.wanted, node->record.attributes(), fixed};
}

}  // namespace stoa::core
