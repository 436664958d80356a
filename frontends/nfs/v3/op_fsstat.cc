// RFC 1813 3.3.18
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_fsstat(Operation& op) {
  const auto handle = op.read_handle();
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle, true);
  if (!id) return op.failed_with_attributes(id.error());

  const auto reply = op.ns.statfs(op.ctx, {.id = *id});
  if (!reply) return op.failed_with_attributes(reply.error(), *id);

  op.ok();
  op.post_op(reply->attr);
  op.out.u64(reply->bytes_total);
  op.out.u64(reply->bytes_free);
  op.out.u64(reply->bytes_available);
  op.out.u64(reply->files_total);
  op.out.u64(reply->files_free);
  op.out.u64(reply->files_available);
  op.out.u32(0);  // invarsec: other protocols change these at any time
  return {};
}

}  // namespace stoa::nfs3
