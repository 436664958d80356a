// RFC 1813 3.3.5
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_readlink(Operation& op) {
  const auto handle = op.read_handle();
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle);
  if (!id) return op.failed_with_attributes(id.error());

  const auto reply = op.ns.readlink(op.ctx, {.id = *id});
  if (!reply) return op.failed_with_attributes(reply.error(), *id);

  op.ok();
  op.post_op(reply->attr);
  op.out.string(reply->target);
  return {};
}

}  // namespace stoa::nfs3
