// RFC 1813 3.3.2
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_setattr(Operation& op) {
  const auto handle = op.read_handle();
  const DecodedAttributes wanted = decode_set_attributes(op.in);
  const bool guarded = op.in.boolean();
  std::optional<Timestamp> guard;
  if (guarded) guard = decode_time(op.in);
  if (!op.in.ok()) return garbage();
  const auto id = op.resolve(handle);
  if (!id) return op.failed_with_wcc(id.error());
  if (!wanted.valid) return op.failed_with_wcc(NfsStatus::kInval, *id);
  // No object has a ctime with this number of nanoseconds.
  if (guarded && !guard) return op.failed_with_wcc(NfsStatus::kNotSync, *id);

  const auto reply = op.ns.setattr(op.ctx, {.id = *id, .set = wanted.set, .guard_ctime = guard});
  if (!reply) return op.failed_with_wcc(reply.error(), *id);

  op.ok();
  op.wcc(reply->before, reply->attr);
  return {};
}

}  // namespace stoa::nfs3
