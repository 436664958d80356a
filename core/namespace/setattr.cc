#include "core/access/access.h"
#include "core/data/truncate.h"
#include "core/namespace/meta_txn.h"
#include "core/namespace/operations.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kSetUid = 04000;
constexpr std::uint32_t kSetGid = 02000;
constexpr std::uint32_t kGroupExecute = 010;
constexpr std::uint32_t kModeBits = 07777;

// chown and writes take away the right to run as somebody else (POSIX chown, write).
std::uint32_t without_set_id(std::uint32_t mode) {
  mode &= ~kSetUid;
  if ((mode & kGroupExecute) != 0) mode &= ~kSetGid;
  return mode;
}

Status check_permissions(const OpContext& ctx, const Inode& inode, const SetAttributes& set) {
  if (set.mode) STOA_CHECK_OK(require_owner(ctx, inode));
  if (set.uid || set.gid) {
    STOA_CHECK_OK(require_owner(ctx, inode));
    if (!ctx.cred.is_superuser()) {
      if (set.uid && *set.uid != inode.uid) return fail(Errc::kNotOwner);
      if (set.gid && *set.gid != inode.gid && !ctx.cred.in_group(*set.gid)) return fail(Errc::kNotOwner);
    }
  }
  if (set.size) {
    if (inode.is_directory()) return fail(Errc::kIsDirectory);
    if (inode.type != FileType::kRegular) return fail(Errc::kInvalid);
    if (*set.size > kFileBytesMax) return fail(Errc::kFileTooBig);
    STOA_CHECK_OK(require_io(ctx, inode, kMayWrite));
  }
  for (const auto& time : {set.atime, set.mtime}) {
    if (!time) continue;
    const Status owner = require_owner(ctx, inode);
    if (owner) continue;
    if (!time->server_time) return owner;
    STOA_CHECK_OK(require(ctx, inode, kMayWrite));
  }
  return {};
}

void apply(const OpContext& ctx, Inode& next, const SetAttributes& set, Timestamp now) {
  const bool regular = next.type == FileType::kRegular;
  if (set.uid || set.gid) {
    next.uid = set.uid.value_or(next.uid);
    next.gid = set.gid.value_or(next.gid);
    if (!next.is_directory() && !set.mode) next.mode = without_set_id(next.mode);
  }
  if (set.mode) {
    next.mode = *set.mode & kModeBits;
    if ((set.uid || set.gid) && !next.is_directory()) next.mode = without_set_id(next.mode);
    if (regular && !ctx.cred.is_superuser() && !ctx.cred.in_group(next.gid)) next.mode &= ~kSetGid;
  }
  if (set.size && !ctx.cred.is_superuser() && !set.mode) next.mode = without_set_id(next.mode);
  next.touch(now);
  if (set.size) next.mtime = next.ctime;
  if (set.atime) next.atime = set.atime->server_time ? now : set.atime->time;
  if (set.mtime) next.mtime = set.mtime->server_time ? next.ctime : set.mtime->time;
}

Result<SetattrReply> setattr_locked(Tree& tree, const OpContext& ctx, const SetattrRequest& req, const NodeRef& node,
                                    CommitTicket& ticket) {
  const NodeLocks locks({node});
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(check_permissions(ctx, node->record, req.set));
  if (req.guard_ctime && *req.guard_ctime != node->record.ctime) return fail(Errc::kGuardMismatch);
  MetaTxn txn(tree, ctx);
  SetattrReply reply{node->record.before(), {}};
  Inode next = node->record;
  if (req.set.size) STOA_CHECK_OK(stage_truncate(tree, txn, node, next, *req.set.size));
  apply(ctx, next, req.set, txn.now());
  reply.attr = next.attributes();
  txn.put_inode(node, std::move(next));
  txn.note({.kind = req.set.size ? ChangeKind::kContent : ChangeKind::kAttributes, .id = req.id});
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

}  // namespace

Result<SetattrReply> setattr(Tree& tree, const OpContext& ctx, const SetattrRequest& req) {
  STOA_TRY(node, tree.nodes.get(req.id));
  const auto body = [&](CommitTicket& ticket) { return setattr_locked(tree, ctx, req, node, ticket); };
  if (!req.set.size) return run_mutation(tree, ctx, body);
  const std::lock_guard gate(node->data_gate);
  STOA_TRY(trimmed, prepare_truncate(tree, ctx, node, *req.set.size));
  auto reply = run_mutation(tree, ctx, body);
  if (reply) finish_truncate(tree, node, trimmed);
  return reply;
}

}  // namespace stoa::core
