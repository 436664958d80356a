#include "core/access/access.h"
#include "core/links/drop_link.h"
#include "core/namespace/find_object.h"
#include "core/namespace/operations.h"
#include "core/recycle/bin.h"

namespace stoa::core {

Result<RemoveKeyReply> remove_key(Tree& tree, const OpContext& ctx, const RemoveKeyRequest& req) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(parts, split_key(req.key));
  for (;;) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    auto found = find_object(tree, ctx, req.root, parts);
    const bool absent = found ? found->node == nullptr : found.error().code == Errc::kNotFound;
    if (absent) {
      STOA_CHECK_OK(check_expectation(req.expect, nullptr));
      return RemoveKeyReply{false};
    }
    if (!found) return fail(found.error());

    STOA_TRY(shelf, prepare_shelf(tree, ctx, found->dir, [&]() -> Status {
               STOA_TRY(locks, NodeLocks::take(ctx, {found->dir, found->node}));
               return require_remove(ctx, found->dir->record, found->node->record);
             }));
    bool changed = false;
    auto reply = run_mutation(tree, ctx, [&](CommitTicket& ticket) -> Result<RemoveKeyReply> {
      STOA_TRY(locks, NodeLocks::take(ctx, {found->dir, found->node, shelf.node}));
      STOA_TRY(entry, find_form(tree, *found->dir, parts.last, false));
      if (found->dir->deleted || entry != found->entry || found->node->deleted ||
          !still_kept(tree, shelf, *found->dir)) {
        changed = true;
        return RemoveKeyReply{};
      }
      if (found->node->record.type != FileType::kRegular) return RemoveKeyReply{false};  // no object
      STOA_CHECK_OK(check_expectation(req.expect, &found->node->record));
      STOA_CHECK_OK(require_remove(ctx, found->dir->record, found->node->record));
      STOA_CHECK_OK(require_outside_bin(tree, *found->dir));
      MetaTxn txn(tree, ctx);
      Inode dir_next = found->dir->record;
      STOA_CHECK_OK(txn.remove_entry(found->dir, dir_next, parts.last, entry));
      if (shelf) {
        STOA_CHECK_OK(
            shelve_link(tree, ctx, txn, shelf, found->node, {found->dir->id, parts.last, req.root, parts.below()}));
      } else {
        STOA_CHECK_OK(drop_link(tree, txn, found->node, found->dir->id, parts.last));
      }
      txn.put_inode(found->dir, std::move(dir_next));
      txn.note({.kind = ChangeKind::kRemove, .id = found->node->id, .parent = found->dir->id, .name = parts.last});
      STOA_TRY(committed, txn.commit());
      ticket = committed;
      return RemoveKeyReply{true};
    });
    if (reply && changed) continue;
    if (reply && reply->removed) prune_directories(tree, ctx, req.root, parts.directories);
    return reply;
  }
}

}  // namespace stoa::core
