#include "base/debug_assert.h"
#include "core/access/access.h"
#include "core/links/drop_link.h"
#include "core/links/remove_directory.h"
#include "core/namespace/rename_exchange.h"
#include "core/namespace/replay.h"
#include "core/recycle/bin.h"
#include "core/recycle/purge.h"
#include "core/recycle/restore.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

// Result of one look at both directories; its nodes are then locked together and looked at again.
struct ResolvedRename {
  NodeRef from_dir, to_dir, moved, replaced;
  FoundEntry from, to;
  UserBin user_bin;      // receives the replaced file
  FileId bin = kNoFile;  // from_dir is a user's bin of it: the rename restores, and replaces nothing
};

Status check_rules(const OpContext& ctx, const RenameRequest& req, const ResolvedRename& p) {
  const Inode& moved = p.moved->record;
  STOA_CHECK_OK(require_remove(ctx, p.from_dir->record, moved));
  STOA_CHECK_OK(require_add(ctx, p.to_dir->record, moved.is_directory()));
  // The ".." of a directory that changes parents is rewritten.
  if (moved.is_directory() && p.from_dir != p.to_dir) STOA_CHECK_OK(require(ctx, moved, kRightWriteData));
  if (p.replaced == nullptr) return {};
  if (req.no_replace) return fail(Errc::kExists);
  STOA_CHECK_OK(require_remove(ctx, p.to_dir->record, p.replaced->record));
  if (moved.is_directory() && !p.replaced->record.is_directory()) return fail(Errc::kNotDirectory);
  if (!moved.is_directory() && p.replaced->record.is_directory()) return fail(Errc::kIsDirectory);
  return {};
}

Result<ResolvedRename> resolve(VolumeContext& volume, const OpContext& ctx, const RenameRequest& req) {
  ResolvedRename p;
  STOA_TRY(from_dir, reach(volume, ctx, req.from_parent));
  STOA_TRY(to_dir, reach(volume, ctx, req.to_parent));
  p.from_dir = from_dir;
  p.to_dir = to_dir;
  {
    STOA_TRY(lock, share_by(from_dir->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*from_dir));
    STOA_CHECK_OK(require(ctx, from_dir->record, kRightSearch));
    STOA_TRY(entry, find_posix(volume, *from_dir, req.from_name));
    if (!entry.record.exists()) return fail(names_bin(*from_dir, req.from_name) ? Errc::kReadOnly : Errc::kNotFound);
    p.from = entry;
  }
  {
    STOA_TRY(lock, share_by(to_dir->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*to_dir));
    STOA_CHECK_OK(require(ctx, to_dir->record, kRightSearch));
    STOA_TRY(entry, find_posix(volume, *to_dir, req.to_name));
    if (!entry.record.exists() && names_bin(*to_dir, req.to_name)) return fail(Errc::kExists);
    p.to = entry;
  }
  STOA_TRY(moved, node_of(volume, ctx, from_dir, p.from.raw, p.from.record));
  p.moved = moved;
  STOA_TRY(bin, bin_of_user_bin(volume, ctx, *from_dir));
  p.bin = bin;
  if (p.bin == kNoFile && p.to.record.exists()) {
    STOA_TRY(replaced, node_of(volume, ctx, to_dir, p.to.raw, p.to.record));
    p.replaced = replaced;
    STOA_TRY(user_bin, prepare_user_bin(volume, ctx, to_dir, [&]() -> Status {
               STOA_TRY(locks, NodeLocks::take(ctx, {p.from_dir, p.to_dir, p.moved, p.replaced}));
               return check_rules(ctx, req, p);
             }));
    p.user_bin = std::move(user_bin);
    if (p.to.directory()) STOA_CHECK_OK(discard_empty_bin(volume, ctx, replaced));
  }
  return p;
}

Status stage_usage(MetaTxn& txn, const ResolvedRename& p, Inode& next) {
  if (p.from_dir == p.to_dir) return {};
  if (next.is_directory()) {
    next.parent = p.to_dir->id;
    STOA_CHECK_OK(txn.move_directory(p.moved, p.to_dir, usage_of(next)));
    return txn.give_child_limits(p.moved->account, p.to_dir->account);
  }
  // Only the link that carries the file's usage takes it along.
  if (next.parent != p.from_dir->id) return {};
  STOA_CHECK_OK(
      txn.move_charge(p.moved, {p.to_dir->account, p.moved->charge_target().owner, p.moved->id}, usage_of(next)));
  next.parent = p.to_dir->id;
  return {};
}

// `alone`: the tree is locked for this alone. Absent: it is to be.
Result<std::optional<RenameReply>> rename_locked(VolumeContext& volume, const OpContext& ctx, const RenameRequest& req,
                                                 const ResolvedRename& p, bool alone, CommitTicket& ticket) {
  STOA_ASSERT(p.moved != p.replaced, "a file does not replace itself");
  STOA_ASSERT((p.replaced == nullptr) == !p.to.record.exists(), "what is there is replaced");
  STOA_DEBUG_ASSERT(alone || p.from_dir == p.to_dir || !p.moved->record.is_directory(),
                    "a directory changes parents with the tree for itself");
  STOA_CHECK_OK(check_rules(ctx, req, p));
  for (const NodeRef& dir : {p.from_dir, p.to_dir}) STOA_CHECK_OK(require_changeable(volume, *dir));
  STOA_CHECK_OK(require_unsealed(volume, *p.moved));
  if (p.replaced != nullptr) STOA_CHECK_OK(require_unsealed(volume, *p.replaced));
  MetaTxn txn(volume, ctx);
  const bool same_dir = p.from_dir == p.to_dir;
  RenameReply reply{p.moved->id, p.from_dir->record.before(), {}, p.to_dir->record.before(), {}};
  Inode from_next = p.from_dir->record;
  Inode to_other = p.to_dir->record;
  Inode& to_next = same_dir ? from_next : to_other;
  Inode next = p.moved->record;
  next.touch(txn.now());

  // The target goes first, so that its room is free for the moved file.
  if (p.replaced != nullptr) {
    STOA_CHECK_OK(txn.remove_entry(p.to_dir, to_next, p.to.raw, p.to.record));
    const DeletedName name{p.to_dir->id, p.to.raw};
    if (p.replaced->record.is_directory()) {
      STOA_TRY(gone, remove_or_recycle_directory(volume, ctx, txn, p.user_bin, p.replaced, name, alone));
      if (!gone) return std::nullopt;
    } else if (p.user_bin) {
      STOA_CHECK_OK(recycle_link(volume, ctx, txn, p.user_bin, p.replaced, name));
    } else {
      STOA_CHECK_OK(drop_link(volume, txn, p.replaced, p.to_dir->id, p.to.raw));
    }
  }
  STOA_CHECK_OK(stage_usage(txn, p, next));
  STOA_CHECK_OK(txn.remove_entry(p.from_dir, from_next, p.from.raw, p.from.record));
  const std::uint64_t cookie = p.replaced != nullptr ? p.to.record.cookie : 0;
  STOA_CHECK_OK(txn.insert_entry(p.to_dir, to_next, p.to.raw, p.moved->id, next.type, cookie));
  const bool recharged = !next.is_directory() && next.parent != p.moved->record.parent;
  txn.put_inode(p.moved, std::move(next));
  if (recharged) txn.set_chains(p.moved, p.to_dir->chains());
  reply.from = from_next.attributes();
  reply.to = to_next.attributes();
  txn.put_inode(p.from_dir, from_next);
  if (!same_dir) txn.put_inode(p.to_dir, to_other);
  txn.note({.kind = ChangeKind::kRename,
            .id = p.moved->id,
            .parent = p.from_dir->id,
            .name = p.from.raw,
            .to_parent = p.to_dir->id,
            .to_name = p.to.raw});
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

}  // namespace

Result<RenameReply> rename(VolumeContext& volume, const OpContext& ctx, const RenameRequest& req) {
  if (auto replay = replay_rename(volume, ctx, req.from_parent, req.to_parent)) return *std::move(replay);
  if (ctx.read_only) return fail(Errc::kReadOnly);
  if (req.exchange) return rename_exchange(volume, ctx, req);
  for (bool alone = false;;) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    auto resolved = resolve(volume, ctx, req);
    if (!resolved) {
      // A file that vanished between the looks: the next look returns the right error.
      if (resolved.error().code == Errc::kStale && reach(volume, ctx, req.from_parent) &&
          reach(volume, ctx, req.to_parent))
        continue;
      return fail(resolved.error());
    }
    ResolvedRename& p = *resolved;
    if (p.bin != kNoFile) return restore_by_rename(volume, ctx, req, p.bin, p.from.raw);
    const bool moves = p.from.directory() && p.from_dir != p.to_dir;
    bool changed = false;
    CommitTicket ticket{};
    const auto attempt = [&]() -> Result<RenameReply> {
      STOA_TRY(locks, NodeLocks::take(ctx, {p.from_dir, p.to_dir, p.moved, p.replaced, p.user_bin.node}));
      STOA_CHECK_OK(require_directory(*p.from_dir));
      STOA_CHECK_OK(require_directory(*p.to_dir));
      STOA_TRY(from, find_posix(volume, *p.from_dir, req.from_name));
      STOA_TRY(to, find_posix(volume, *p.to_dir, req.to_name));
      if (from.record != p.from.record || to.record != p.to.record || !still_kept(volume, p.user_bin, *p.to_dir)) {
        changed = true;
        return RenameReply{};
      }
      if (p.replaced == p.moved) {
        // Two names of one file: POSIX rename does nothing and succeeds.
        if (req.no_replace) return fail(Errc::kExists);
        const Inode& f = p.from_dir->record;
        const Inode& t = p.to_dir->record;
        return RenameReply{p.moved->id, f.before(), f.attributes(), t.before(), t.attributes()};
      }
      STOA_TRY(done, rename_locked(volume, ctx, req, p, moves || alone, ticket));
      if (done) return *std::move(done);
      alone = changed = true;
      return RenameReply{};
    };
    auto reply = [&]() -> Result<RenameReply> {
      if (!moves && !alone) {
        STOA_TRY(tree_lock, share_by(volume.tree_lock, ctx.deadline));
        return attempt();
      }
      STOA_TRY(tree_lock, lock_by(volume.tree_lock, ctx.deadline));
      if (!moves) return attempt();
      if (lies_in(p.to_dir->chains_now().ancestry, p.moved->id)) return fail(Cause::kMoveBelowItself);
      return attempt();
    }();
    if (reply && changed) continue;
    if (reply && static_cast<std::uint64_t>(ticket) != 0) STOA_CHECK_OK(sync_or_defer(volume, ctx, ticket));
    return reply;
  }
}

}  // namespace stoa::core
