// RFC 1813 3.3.3
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_lookup(Operation& op) {
  const auto handle = op.read_handle();
  const auto name = op.read_name();
  if (!op.in.ok()) return garbage();
  const auto dir = op.resolve(handle);
  if (!dir) return op.failed_with_attributes(dir.error());
  if (const NfsStatus bad = check_name(name); bad != NfsStatus::kOk) {
    return op.failed_with_attributes(op.bad_name_status(*dir, bad), *dir);
  }

  // ".." of the export's root is the root itself: no handle leads out of an export.
  const auto reply = op.ns.lookup(op.ctx, {.parent = *dir, .name = name, .root = op.access.entered().root});
  if (!reply) return op.failed_with_attributes(reply.error(), *dir);

  op.ok();
  op.encode_handle(reply->attr);
  op.post_op(reply->attr);
  op.post_op(reply->parent);
  return {};
}

}  // namespace stoa::nfs3
