// RFC 1813 3.3.1
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_getattr(Operation& op) {
  const auto handle = op.read_handle();
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle, true);
  if (!id) return op.failed(id.error());

  const auto reply = op.ns.getattr(op.ctx, {.id = *id});
  if (!reply) return op.failed(reply.error());

  op.ok();
  encode_attributes(op.out, reply->attr, op.env.fsid);
  return {};
}

}  // namespace stoa::nfs3
