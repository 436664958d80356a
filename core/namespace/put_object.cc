#include "core/namespace/put_object.h"

#include "core/access/access.h"
#include "core/data/flush.h"
#include "core/links/drop_link.h"
#include "core/links/new_inode.h"
#include "core/namespace/find_object.h"
#include "core/namespace/object_meta.h"
#include "core/recycle/bin.h"

namespace stoa::core {
namespace {

Status stage_new(Tree& tree, const OpContext& ctx, MetaTxn& txn, const PutObject& put, const StagedContent& content,
                 const NodeRef& dir, Inode& dir_next, std::string_view raw, PutKeyReply& reply) {
  STOA_CHECK_OK(require_add(ctx, dir->record, false));
  NewInode wanted{.type = FileType::kRegular, .default_mode = put.mode};
  if (dir->record.charged_to != kNoFile) {
    // What an upload takes is of who began it, whoever acts for him.
    wanted.set.uid = dir->record.uid;
    wanted.set.gid = dir->record.gid;
  }
  STOA_TRY(inode, make_inode(tree, ctx, txn, dir->record, wanted));
  STOA_CHECK_OK(take_content(tree, txn, inode.id, inode, content));
  if (put.mtime) inode.mtime = *put.mtime;
  if (!put.meta.empty()) stage_first_meta(txn, inode, put.meta);
  reply.attr = inode.attributes();
  STOA_CHECK_OK(add_file(txn, dir, dir_next, raw, std::move(inode)));
  return {};
}

// The file keeps its id, names and permissions: a handle that another door holds sees the new content.
Status stage_swap(Tree& tree, const OpContext& ctx, MetaTxn& txn, const PutObject& put, const StagedContent& content,
                  const NodeRef& node, const Shelf& shelf, const DeletedName& name, PutKeyReply& reply) {
  STOA_CHECK_OK(require_write(ctx, node->record, 0));
  STOA_CHECK_OK(require_outside_bin(tree, *node));
  STOA_CHECK_OK(tree.state.before_io(ctx, node->id, 0, kFileBytesMax, true));
  const auto delta = static_cast<std::int64_t>(content.size) - static_cast<std::int64_t>(node->record.size);
  if (delta > 0) {
    STOA_CHECK_OK(txn.reserve(node->payer(), {.bytes = delta}));
  } else if (delta < 0) {
    txn.release(node->payer(), {.bytes = -delta});
  }
  if (shelf) STOA_CHECK_OK(shelve_content(tree, ctx, txn, shelf, node, name));
  STOA_CHECK_OK(drop_content(tree, txn, node));
  Inode next = node->record;
  STOA_CHECK_OK(take_content(tree, txn, node->id, next, content));
  next.touch_content(txn.now());
  next.mode = mode_after_write(ctx, next.mode);
  if (put.mtime) next.mtime = *put.mtime;
  STOA_CHECK_OK(stage_meta(tree, txn, node, next, put.meta));
  reply.attr = next.attributes();
  txn.put_inode(node, std::move(next));
  txn.note({.kind = ChangeKind::kContent, .id = node->id});
  return {};
}

Result<PutKeyReply> put_locked(Tree& tree, const OpContext& ctx, const PutObject& put, const StagedContent& content,
                               const FoundObject& found, const Shelf& shelf, const DeletedName& name,
                               CommitTicket& ticket) {
  const std::string_view raw = name.raw;
  STOA_CHECK_OK(require_outside_bin(tree, *found.dir));
  const bool regular = found.node != nullptr && found.node->record.type == FileType::kRegular;
  STOA_CHECK_OK(check_expectation(put.expect, regular ? &found.node->record : nullptr));
  MetaTxn txn(tree, ctx);
  PutKeyReply reply{{}, regular};
  if (put.stage_more) STOA_CHECK_OK(put.stage_more(txn));
  if (regular) {
    STOA_CHECK_OK(stage_swap(tree, ctx, txn, put, content, found.node, shelf, name, reply));
  } else {
    Inode dir_next = found.dir->record;
    if (found.node != nullptr) {
      // A symlink or device of that name is no object: it makes room, as a rename over it would.
      STOA_CHECK_OK(require_remove(ctx, found.dir->record, found.node->record));
      STOA_CHECK_OK(txn.remove_entry(found.dir, dir_next, raw, found.entry));
      if (shelf) {
        STOA_CHECK_OK(shelve_link(tree, ctx, txn, shelf, found.node, name));
      } else {
        STOA_CHECK_OK(drop_link(tree, txn, found.node, found.dir->id, raw));
      }
    } else if (names_bin(*found.dir, raw)) {
      return fail(Errc::kReadOnly, "the name belongs to the recycle bin");
    }
    STOA_CHECK_OK(stage_new(tree, ctx, txn, put, content, found.dir, dir_next, raw, reply));
  }
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

// Whether the caller may replace what is there.
Status may_replace(const OpContext& ctx, const FoundObject& found) {
  STOA_TRY(locks, NodeLocks::take(ctx, {found.dir, found.node}));
  const Inode& record = found.node->record;
  return record.type == FileType::kRegular ? require_write(ctx, record, 0)
                                           : require_remove(ctx, found.dir->record, record);
}

}  // namespace

Result<PutKeyReply> put_object(Tree& tree, const OpContext& ctx, const PutObject& put, const StagedContent& content) {
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
        // What expects an object that is not there is refused as such, before any directory is made or charged.
        const auto present = find_object(tree, ctx, put.root, parts);
        if (present ? present->node == nullptr : present.error().code == Errc::kNotFound) {
          return fail(Errc::kPreconditionFailed);
        }
      }
      // Whatever vanishes between a look and the locks (another key's removal pruned the directory) is looked for
      // again.
      const auto dir = make_directories(tree, ctx, put.root, parts.directories, &kept, put.multipart);
      const bool counts = !put.multipart || tree.nodes.get(put.multipart->dir);
      if (!dir && dir.error().code == Errc::kStale && counts && tree.nodes.get(put.root)) continue;
      if (!dir) return fail(dir.error());
      auto found = find_object(tree, ctx, put.root, parts);
      if (!found && found.error().code == Errc::kNotFound) continue;
      if (!found) return fail(found.error());

      Shelf shelf;
      std::unique_lock<RwLock> gate;
      if (found->node != nullptr) {
        STOA_TRY(prepared, prepare_shelf(tree, ctx, found->dir, [&] { return may_replace(ctx, *found); }));
        shelf = std::move(prepared);
        // What is kept is what was written: most of it before everybody else is kept out of the file.
        if (shelf) STOA_CHECK_OK(flush_file(tree, ctx, found->node));
        STOA_TRY(alone, lock_by(found->node->data_gate, ctx.deadline));
        gate = std::move(alone);
        if (shelf) STOA_CHECK_OK(flush_file(tree, ctx, found->node));
      }
      bool changed = false;
      CommitTicket committed{};
      auto reply = apply_mutation(tree, ctx, committed, [&](CommitTicket& ticket) -> Result<PutKeyReply> {
        STOA_TRY(locks,
                 NodeLocks::take(ctx, {found->dir, found->node, shelf.node, put.also_locked[0], put.also_locked[1]}));
        if (found->dir->deleted || !still_kept(tree, shelf, *found->dir)) {
          changed = true;
          return PutKeyReply{};
        }
        STOA_TRY(entry, find_form(tree, *found->dir, parts.last, false));
        if (entry != found->entry || (found->node != nullptr && found->node->deleted)) {
          changed = true;
          return PutKeyReply{};
        }
        const DeletedName name{found->dir->id, parts.last, put.root, parts.below()};
        return put_locked(tree, ctx, put, content, *found, shelf, name, ticket);
      });
      if (reply && changed) continue;
      // Readers and writers of the file go on with the new content, and do not wait for the disk with this call.
      if (gate.owns_lock()) gate.unlock();
      if (reply) STOA_CHECK_OK(settle(tree, ctx, committed));
      return reply;
    }
  };
  auto reply = attempt();
  if (!reply) prune_directories(tree, ctx, put.root, parts.directories, kept);
  return reply;
}

}  // namespace stoa::core
