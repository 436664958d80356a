#include "core/namespace/put_object.h"

#include "base/assert.h"
#include "core/access/access.h"
#include "core/data/flush.h"
#include "core/links/drop_link.h"
#include "core/links/new_inode.h"
#include "core/namespace/find_object.h"
#include "core/namespace/object_meta.h"
#include "core/recycle/bin.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

Status stage_new(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const PutObject& put,
                 const StagedContent& content, const NodeRef& dir, Inode& dir_next, std::string_view raw,
                 PutKeyReply& reply) {
  STOA_CHECK_OK(require_add(ctx, dir->record, false));
  NewInode wanted{.type = FileType::kRegular, .default_mode = put.mode};
  if (dir->record.charged_to != kNoFile) {
    // Files of an upload belong to its initiator, regardless of the caller.
    wanted.set.uid = dir->record.uid;
    wanted.set.gid = dir->record.gid;
  }
  STOA_TRY(inode, make_inode(volume, ctx, txn, dir->record, wanted));
  STOA_CHECK_OK(take_content(volume, txn, inode.id, inode, content));
  if (put.mtime) inode.mtime = *put.mtime;
  if (!put.meta.empty()) stage_first_meta(txn, inode, put.meta);
  reply.attr = inode.attributes();
  STOA_CHECK_OK(add_file(txn, dir, dir_next, raw, std::move(inode)));
  return {};
}

// The file keeps its id, names and permissions: the handle of an NFS client sees the new content.
Status stage_swap(VolumeContext& volume, const OpContext& ctx, MetaTxn& txn, const PutObject& put,
                  const StagedContent& content, const NodeRef& node, const UserBin& user_bin, const DeletedName& name,
                  PutKeyReply& reply) {
  STOA_CHECK_OK(require_write(ctx, node->record, 0));
  STOA_CHECK_OK(require_changeable(volume, *node));
  STOA_CHECK_OK(volume.state.before_io(ctx, node->id, 0, kFileBytesMax, true));
  const auto delta = static_cast<std::int64_t>(content.size) - static_cast<std::int64_t>(node->record.size);
  if (delta > 0) {
    STOA_CHECK_OK(txn.reserve(node->charge_target(), {.bytes = delta}));
  } else if (delta < 0) {
    txn.release(node->charge_target(), {.bytes = -delta});
  }
  if (user_bin) STOA_CHECK_OK(recycle_content(volume, ctx, txn, user_bin, node, name));
  STOA_CHECK_OK(drop_content(volume, txn, node));
  Inode next = node->record;
  STOA_CHECK_OK(take_content(volume, txn, node->id, next, content));
  next.touch_content(txn.now());
  next.mode = mode_after_write(ctx, next.mode);
  if (put.mtime) next.mtime = *put.mtime;
  STOA_CHECK_OK(stage_meta(volume, txn, node, next, put.meta));
  reply.attr = next.attributes();
  txn.put_inode(node, std::move(next));
  txn.note({.kind = ChangeKind::kContent, .id = node->id, .parent = name.dir, .name = name.raw});
  return {};
}

Result<PutKeyReply> put_locked(VolumeContext& volume, const OpContext& ctx, const PutObject& put,
                               const StagedContent& content, const FoundObject& found, const UserBin& user_bin,
                               const DeletedName& name, CommitTicket& ticket) {
  const std::string_view raw = name.raw;
  STOA_ASSERT((found.node == nullptr) == !found.entry.exists(), "an object is found with its name");
  STOA_CHECK_OK(require_changeable(volume, *found.dir));
  const bool regular = found.node != nullptr && found.node->record.type == FileType::kRegular;
  STOA_CHECK_OK(check_expectation(put.expect, regular ? &found.node->record : nullptr));
  MetaTxn txn(volume, ctx);
  PutKeyReply reply{{}, regular};
  if (put.stage_more) STOA_CHECK_OK(put.stage_more(txn));
  if (regular) {
    STOA_CHECK_OK(stage_swap(volume, ctx, txn, put, content, found.node, user_bin, name, reply));
  } else {
    Inode dir_next = found.dir->record;
    if (found.node != nullptr) {
      // A symlink or device of that name is no object: it makes room, as a rename over it would.
      STOA_CHECK_OK(require_remove(ctx, found.dir->record, found.node->record));
      STOA_CHECK_OK(require_unsealed(volume, *found.node));
      STOA_CHECK_OK(txn.remove_entry(found.dir, dir_next, raw, found.entry));
      if (user_bin) {
        STOA_CHECK_OK(recycle_link(volume, ctx, txn, user_bin, found.node, name));
      } else {
        STOA_CHECK_OK(drop_link(volume, txn, found.node, found.dir->id, raw));
      }
    } else if (names_bin(*found.dir, raw)) {
      return fail(Cause::kBinName);
    }
    STOA_CHECK_OK(stage_new(volume, ctx, txn, put, content, found.dir, dir_next, raw, reply));
  }
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

// Whether the caller may replace the object.
Status may_replace(const OpContext& ctx, const FoundObject& found) {
  STOA_TRY(locks, NodeLocks::take(ctx, {found.dir, found.node}));
  const Inode& record = found.node->record;
  return record.type == FileType::kRegular ? require_write(ctx, record, 0)
                                           : require_remove(ctx, found.dir->record, record);
}

}  // namespace

Result<PutKeyReply> put_object(VolumeContext& volume, const OpContext& ctx, const PutObject& put,
                               const StagedContent& content) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  if (put.meta.size() > kXattrValueBytesMax) return fail(Errc::kTooLarge);
  STOA_TRY(parts, split_key(put.key));
  if (put.multipart && (put.root != kMultipartId || parts.directories.size() != 1))
    return fail(Errc::kInvalid, "no key of a multipart upload");
  std::size_t kept = parts.directories.size();
  const auto attempt = [&]() -> Result<PutKeyReply> {
    for (;;) {
      if (ctx.expired()) return fail(Errc::kTimeout);
      if (put.expect && put.expect->version) {
        // A precondition on a missing object fails before any directory is made or charged.
        const auto present = find_object(volume, ctx, put.root, parts);
        if (present ? present->node == nullptr : present.error().code == Errc::kNotFound) {
          return fail(Errc::kPreconditionFailed);
        }
      }
      // A file that vanishes between a look and the locks (another key's removal pruned the directory) is looked
      // up again.
      const auto dir = make_directories(volume, ctx, put.root, parts.directories, &kept, put.multipart);
      if (!dir && dir.error().code == Errc::kStale) {
        STOA_CHECK_OK(volume.nodes.get(put.root));
        if (put.multipart) STOA_CHECK_OK(volume.nodes.get(put.multipart->dir));
        continue;
      }
      if (!dir) return fail(dir.error());
      auto found = find_object(volume, ctx, put.root, parts);
      if (!found && found.error().code == Errc::kNotFound) continue;
      if (!found) return fail(found.error());

      UserBin user_bin;
      std::unique_lock<RwLock> gate;
      if (found->node != nullptr) {
        STOA_TRY(prepared, prepare_user_bin(volume, ctx, found->dir, [&] { return may_replace(ctx, *found); }));
        user_bin = std::move(prepared);
        // The bin keeps all written content: most of it is flushed before other threads are kept out of the file.
        if (user_bin) STOA_CHECK_OK(flush_file(volume, ctx, found->node));
        STOA_TRY(alone, lock_by(found->node->data_gate, ctx.deadline));
        gate = std::move(alone);
        if (user_bin) STOA_CHECK_OK(flush_file(volume, ctx, found->node));
      }
      bool changed = false;
      CommitTicket committed{};
      auto reply = apply_mutation(volume, ctx, committed, [&](CommitTicket& ticket) -> Result<PutKeyReply> {
        STOA_TRY(locks, NodeLocks::take(
                            ctx, {found->dir, found->node, user_bin.node, put.also_locked[0], put.also_locked[1]}));
        if (found->dir->deleted || !still_kept(volume, user_bin, *found->dir)) {
          changed = true;
          return PutKeyReply{};
        }
        STOA_TRY(entry, find_form(volume, *found->dir, parts.last, false));
        if (entry != found->entry || (found->node != nullptr && found->node->deleted)) {
          changed = true;
          return PutKeyReply{};
        }
        const DeletedName name{found->dir->id, parts.last, put.root, parts.below()};
        return put_locked(volume, ctx, put, content, *found, user_bin, name, ticket);
      });
      if (reply && changed) continue;
      // Readers and writers of the file go on with the new content, and do not wait for the disk with this call.
      if (gate.owns_lock()) gate.unlock();
      if (reply) STOA_CHECK_OK(sync_or_defer(volume, ctx, committed));
      return reply;
    }
  };
  auto reply = attempt();
  if (!reply) prune_directories(volume, ctx.without_deadline(), put.root, parts.directories, kept);
  return reply;
}

}  // namespace stoa::core
