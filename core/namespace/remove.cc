// unlink and rmdir.
#include "base/assert.h"
#include "core/access/access.h"
#include "core/links/drop_link.h"
#include "core/links/remove_directory.h"
#include "core/namespace/replay.h"
#include "core/recycle/bin.h"
#include "core/recycle/purge.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

// The target of a removal, and its user's bin.
struct RemoveTarget {
  NodeRef dir, node;
  FoundEntry entry;
  UserBin user_bin;
  bool alone = false;  // with the tree for itself
};

Status may_remove(const OpContext& ctx, const NodeRef& dir, const NodeRef& target) {
  STOA_TRY(locks, NodeLocks::take(ctx, {dir, target}));
  return require_remove(ctx, dir->record, target->record);
}

// The target is known only after a look at the directory, and must be locked together with it, in order of id: look
// first, lock both, look again. `body` replies nothing where it is to be looked at once more.
template <class Body>
Result<RemoveReply> with_target(VolumeContext& volume, const OpContext& ctx, const RemoveRequest& req, Body body) {
  if (auto replay = replay_remove(volume, ctx, req.parent)) return *std::move(replay);
  RemoveTarget target;
  STOA_TRY(dir, reach(volume, ctx, req.parent));
  target.dir = dir;
  for (;;) {
    {
      STOA_TRY(lock, share_by(dir->lock, ctx.deadline));
      STOA_CHECK_OK(require_directory(*dir));
      STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
      STOA_TRY(entry, find_posix(volume, *dir, req.name));
      if (!entry.record.exists()) return fail(names_bin(*dir, req.name) ? Errc::kReadOnly : Errc::kNotFound);
      if (req.file != kNoFile && entry.record.id != req.file) return fail(Errc::kNotFound);
      target.entry = std::move(entry);
    }
    auto node = node_of(volume, ctx, dir, target.entry.raw, target.entry.record);
    if (!node) {
      if (node.error().code == Errc::kStale) continue;  // removed meanwhile; the next look tells
      return fail(node.error());
    }
    target.node = *node;
    STOA_TRY(user_bin, prepare_user_bin(volume, ctx, dir, [&] { return may_remove(ctx, dir, target.node); }));
    target.user_bin = std::move(user_bin);
    if (target.entry.directory()) STOA_CHECK_OK(discard_empty_bin(volume, ctx, target.node));
    auto reply = run_mutation(
        volume, ctx,
        [&](CommitTicket& ticket) -> Result<std::optional<RemoveReply>> {
          STOA_TRY(locks, NodeLocks::take(ctx, {dir, target.node, target.user_bin.node}));
          STOA_CHECK_OK(require_directory(*dir));
          STOA_TRY(entry, find_posix(volume, *dir, req.name));
          if (entry.record.id != target.entry.record.id || !still_kept(volume, target.user_bin, *dir))
            return std::nullopt;
          target.entry = std::move(entry);
          STOA_ASSERT(target.entry.record.id == target.node->id, "what is removed is what was found");
          STOA_CHECK_OK(require_changeable(volume, *dir));
          STOA_CHECK_OK(require_unsealed(volume, *target.node));
          return body(target, ticket);
        },
        target.alone);
    if (!reply) return fail(reply.error());
    if (*reply) return **std::move(reply);
  }
}

}  // namespace

Result<RemoveReply> unlink(VolumeContext& volume, const OpContext& ctx, const RemoveRequest& req) {
  return with_target(volume, ctx, req,
                     [&](const RemoveTarget& target, CommitTicket& ticket) -> Result<std::optional<RemoveReply>> {
                       const auto& [dir, node, entry, user_bin, alone] = target;
                       if (entry.directory()) return fail(Errc::kIsDirectory);
                       STOA_CHECK_OK(require_remove(ctx, dir->record, node->record));
                       MetaTxn txn(volume, ctx);
                       Inode dir_next = dir->record;
                       RemoveReply reply{node->id, dir->record.before(), {}};
                       STOA_CHECK_OK(txn.remove_entry(dir, dir_next, entry.raw, entry.record));
                       if (user_bin) {
                         STOA_CHECK_OK(recycle_link(volume, ctx, txn, user_bin, node, {dir->id, entry.raw}));
                       } else {
                         STOA_CHECK_OK(drop_link(volume, txn, node, dir->id, entry.raw));
                       }
                       reply.parent = dir_next.attributes();
                       txn.put_inode(dir, std::move(dir_next));
                       txn.note({.kind = ChangeKind::kRemove, .id = node->id, .parent = dir->id, .name = entry.raw});
                       STOA_TRY(committed, txn.commit());
                       ticket = committed;
                       return reply;
                     });
}

Result<RemoveReply> rmdir(VolumeContext& volume, const OpContext& ctx, const RemoveRequest& req) {
  return with_target(
      volume, ctx, req, [&](RemoveTarget& target, CommitTicket& ticket) -> Result<std::optional<RemoveReply>> {
        auto& [dir, node, entry, user_bin, alone] = target;
        if (!entry.directory()) return fail(Errc::kNotDirectory);
        STOA_CHECK_OK(require_remove(ctx, dir->record, node->record));
        MetaTxn txn(volume, ctx);
        Inode dir_next = dir->record;
        RemoveReply reply{node->id, dir->record.before(), {}};
        STOA_CHECK_OK(txn.remove_entry(dir, dir_next, entry.raw, entry.record));
        STOA_TRY(gone, remove_or_recycle_directory(volume, ctx, txn, user_bin, node, {dir->id, entry.raw}, alone));
        if (!gone) {
          alone = true;
          return std::nullopt;
        }
        reply.parent = dir_next.attributes();
        txn.put_inode(dir, std::move(dir_next));
        txn.note({.kind = ChangeKind::kRemove, .id = node->id, .parent = dir->id, .name = entry.raw});
        STOA_TRY(committed, txn.commit());
        ticket = committed;
        return reply;
      });
}

}  // namespace stoa::core
