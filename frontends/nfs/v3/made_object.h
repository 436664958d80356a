// The common parts of CREATE, MKDIR, SYMLINK and MKNOD: the checks of the new name, and the reply.
#pragma once

#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {

// kOk, or why no object can be made under this name. "." and ".." are always there already.
inline NfsStatus check_new_name(std::string_view name) {
  return is_dot(name) || is_dot_dot(name) ? NfsStatus::kExist : check_name(name);
}

inline rpc::Outcome made(Operation& op, core::FileId dir, const Result<core::CreateReply>& reply) {
  if (!reply) return op.failed_with_wcc(reply.error(), dir);
  op.ok();
  op.out.boolean(true);
  op.encode_handle(reply->attr);
  op.post_op(reply->attr);
  op.wcc(reply->parent_before, reply->parent);
  return {};
}

}  // namespace stoa::nfs3
