// RFC 1813 3.3.14
#include "frontends/nfs/v3/operation.h"

namespace stoa::nfs3 {
namespace {

rpc::Outcome rename_failed(Operation& op, NfsStatus status, std::optional<core::FileId> from,
                           std::optional<core::FileId> to) {
  const rpc::Outcome outcome = op.failed_with_wcc(status, from);
  if (to) {
    op.wcc_now(*to);
  } else {
    encode_wcc(op.out, nullptr, nullptr, op.env.fsid);
  }
  return outcome;
}

NfsStatus check_renamed(std::string_view name) {
  return is_dot(name) || is_dot_dot(name) ? NfsStatus::kInval : check_name(name);
}

}  // namespace

rpc::Outcome op_rename(Operation& op) {
  const auto from_handle = op.read_handle();
  const auto from_name = op.read_name();
  const auto to_handle = op.read_handle();
  const auto to_name = op.read_name();
  if (!op.in.ok()) return garbage();
  const auto from = op.resolve(from_handle);
  if (!from) return rename_failed(op, to_nfs_status(from.error().code), {}, {});
  const auto to = op.resolve_beside(to_handle);
  if (!to) return rename_failed(op, to_nfs_status(to.error().code), *from, {});
  if (const NfsStatus bad = check_renamed(from_name); bad != NfsStatus::kOk) {
    return rename_failed(op, op.bad_name_status(*from, bad), *from, *to);
  }
  if (const NfsStatus bad = check_renamed(to_name); bad != NfsStatus::kOk) {
    return rename_failed(op, op.bad_name_status(*to, bad), *from, *to);
  }

  const auto reply =
      op.ns.rename(op.ctx, {.from_parent = *from, .from_name = from_name, .to_parent = *to, .to_name = to_name});
  if (!reply) return rename_failed(op, op.status_of(reply.error()), *from, *to);

  op.ok();
  op.wcc(reply->from_before, reply->from);
  op.wcc(reply->to_before, reply->to);
  return {};
}

}  // namespace stoa::nfs3
