// unlink and rmdir.
#include "core/access/access.h"
#include "core/namespace/drop_link.h"
#include "core/namespace/operations.h"
#include "core/namespace/remove_directory.h"

namespace stoa::core {
namespace {

// The victim is known only after a look at the directory, and must be locked together with it, in order of id: look
// first, lock both, look again.
template <class Body>
Result<RemoveReply> with_victim(Tree& tree, const OpContext& ctx, const RemoveRequest& req, Body body) {
  STOA_TRY(dir, tree.nodes.get(req.parent));
  FileId victim_id = kNoFile;
  for (;;) {
    {
      const std::shared_lock lock(dir->lock);
      STOA_CHECK_OK(require_directory(*dir));
      STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
      STOA_TRY(entry, find_posix(tree, *dir, req.name));
      if (!entry.record.exists()) return fail(Errc::kNotFound);
      victim_id = entry.record.id;
    }
    auto victim = tree.nodes.get(victim_id);
    if (!victim) {
      if (victim.error().code == Errc::kStale) continue;  // removed meanwhile; the next look tells
      return fail(victim.error());
    }
    bool changed = false;
    auto reply = run_mutation(tree, ctx, [&](CommitTicket& ticket) -> Result<RemoveReply> {
      const NodeLocks locks({dir, *victim});
      STOA_CHECK_OK(require_directory(*dir));
      STOA_TRY(entry, find_posix(tree, *dir, req.name));
      if (entry.record.id != victim_id) {
        changed = true;
        return RemoveReply{};
      }
      return body(dir, *victim, entry, ticket);
    });
    if (!reply || !changed) return reply;
  }
}

}  // namespace

Result<RemoveReply> unlink(Tree& tree, const OpContext& ctx, const RemoveRequest& req) {
  return with_victim(tree, ctx, req,
                     [&](const NodeRef& dir, const NodeRef& victim, const FoundEntry& entry,
                         CommitTicket& ticket) -> Result<RemoveReply> {
    if (entry.directory()) return fail(Errc::kIsDirectory);
    STOA_CHECK_OK(require_remove(ctx, dir->record, victim->record));
    MetaTxn txn(tree, ctx);
    Inode dir_next = dir->record;
    RemoveReply reply{victim->id, dir->record.before(), {}};
    STOA_CHECK_OK(txn.remove_entry(dir, dir_next, entry.raw, entry.record));
    STOA_CHECK_OK(drop_link(tree, txn, victim, dir->id, entry.raw));
    reply.parent = dir_next.attributes();
    txn.put_inode(dir, std::move(dir_next));
    txn.note({.kind = ChangeKind::kRemove, .id = victim->id, .parent = dir->id, .name = entry.raw});
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return reply;
  });
}

Result<RemoveReply> rmdir(Tree& tree, const OpContext& ctx, const RemoveRequest& req) {
  return with_victim(tree, ctx, req,
                     [&](const NodeRef& dir, const NodeRef& victim, const FoundEntry& entry,
                         CommitTicket& ticket) -> Result<RemoveReply> {
    if (!entry.directory()) return fail(Errc::kNotDirectory);
    STOA_CHECK_OK(require_remove(ctx, dir->record, victim->record));
    MetaTxn txn(tree, ctx);
    Inode dir_next = dir->record;
    RemoveReply reply{victim->id, dir->record.before(), {}};
    STOA_CHECK_OK(txn.remove_entry(dir, dir_next, entry.raw, entry.record));
    STOA_CHECK_OK(stage_remove_directory(tree, txn, victim));
    reply.parent = dir_next.attributes();
    txn.put_inode(dir, std::move(dir_next));
    txn.note({.kind = ChangeKind::kRemove, .id = victim->id, .parent = dir->id, .name = entry.raw});
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return reply;
  });
}

}  // namespace stoa::core
