#include "core/access/access.h"
#include "core/access/acl.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {

Result<GetAclReply> get_acl(const VolumeView& volume, const OpContext& ctx, const GetAclRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_live(*node));
  const Inode& record = node->record;
  STOA_CHECK_OK(require(ctx, record, kRightReadAcl));
  if (record.acl != nullptr) return GetAclReply{record.acl, true, record.attributes()};
  Acl made = acl_of_mode(record.mode, record.is_directory());
  made.flags = kAclDefaulted;
  return GetAclReply{std::make_shared<const Acl>(std::move(made)), false, record.attributes()};
}

}  // namespace stoa::core
