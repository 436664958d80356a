// RFC 1813 3.3.20
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_pathconf(Operation& op) {
  const auto handle = op.read_handle();
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle);
  if (!id) return op.failed_with_attributes(id.error());

  const auto reply = op.ns.getattr(op.ctx, {.id = *id});
  if (!reply) return op.failed_with_attributes(reply.error());

  op.ok();
  op.post_op(reply->attr);
  op.out.u32(core::kLinksMax);
  op.out.u32(core::kNameBytesMax);
  op.out.boolean(true);   // no_trunc: a name that is too long is refused
  op.out.boolean(true);   // chown_restricted
  op.out.boolean(false);  // case_insensitive
  op.out.boolean(true);   // case_preserving
  return {};
}

}  // namespace stoa::nfs3
