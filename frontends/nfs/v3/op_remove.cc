// RFC 1813 3.3.12
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

rpc::Outcome op_remove(Operation& op) {
  const auto handle = op.read_handle();
  const auto name = op.read_name();
  if (!op.in.ok()) return garbage();
  const auto dir = op.resolve(handle);
  if (!dir) return op.failed_with_wcc(dir.error());
  const NfsStatus bad = is_dot(name) || is_dot_dot(name) ? NfsStatus::kIsDir : check_name(name);
  if (bad != NfsStatus::kOk) return op.failed_with_wcc(op.bad_name_status(*dir, bad), *dir);

  const auto reply = op.ns.unlink(op.ctx, {.parent = *dir, .name = name});
  if (!reply) return op.failed_with_wcc(reply.error(), *dir);

  op.ok();
  op.wcc(reply->parent_before, reply->parent);
  return {};
}

}  // namespace stoa::nfs3
