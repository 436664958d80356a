// RFC 1813 3.3.15
#include "frontends/nfs/v3/made_object.h"
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {
namespace {

rpc::Outcome link_failed(Operation& op, NfsStatus status, std::optional<core::FileId> file,
                         std::optional<core::FileId> dir) {
  const rpc::Outcome outcome = op.failed_with_attributes(status, file);
  if (dir) {
    op.wcc_now(*dir);
  } else {
    encode_wcc(op.out, nullptr, nullptr, op.env.fsid);
  }
  return outcome;
}

}  // namespace

rpc::Outcome op_link(Operation& op) {
  const auto file_handle = op.read_handle();
  const auto dir_handle = op.read_handle();
  const auto name = op.read_name();
  if (!op.in.ok()) return garbage();
  const auto file = op.resolve(file_handle);
  if (!file) return link_failed(op, to_nfs_status(file.error().code), {}, {});
  const auto dir = op.resolve_beside(dir_handle);
  if (!dir) return link_failed(op, to_nfs_status(dir.error().code), *file, {});
  if (const NfsStatus bad = check_new_name(name); bad != NfsStatus::kOk) {
    return link_failed(op, op.bad_name_status(*dir, bad), *file, *dir);
  }

  const auto reply = op.ns.link(op.ctx, {.id = *file, .parent = *dir, .name = name});
  if (!reply) {
    // A directory cannot be linked to; the procedure's list has INVAL for it, and not ISDIR.
    const bool directory = reply.error().code == Errc::kIsDirectory;
    return link_failed(op, directory ? NfsStatus::kInval : op.status_of(reply.error()), *file, *dir);
  }

  op.ok();
  op.post_op(reply->attr);
  op.wcc(reply->parent_before, reply->parent);
  return {};
}

}  // namespace stoa::nfs3
