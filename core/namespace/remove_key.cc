#include "base/assert.h"
#include "core/access/access.h"
#include "core/links/drop_link.h"
#include "core/namespace/find_object.h"
#include "core/recycle/bin.h"
#include "core/txn/operations.h"
#include "core/txn/sealed.h"

namespace stoa::core {

Result<RemoveKeyReply> remove_key(VolumeContext& volume, const OpContext& ctx, const RemoveKeyRequest& req) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(parts, split_key(req.key));
  for (;;) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    auto found = find_object(volume, ctx, req.root, parts);
    const bool absent = found ? found->node == nullptr : found.error().code == Errc::kNotFound;
    if (absent) {
      STOA_CHECK_OK(check_expectation(req.expect, nullptr));
      return RemoveKeyReply{false};
    }
    if (!found) return fail(found.error());

    STOA_TRY(user_bin, prepare_user_bin(volume, ctx, found->dir, [&]() -> Status {
               STOA_TRY(locks, NodeLocks::take(ctx, {found->dir, found->node}));
               return require_remove(ctx, found->dir->record, found->node->record);
             }));
    bool changed = false;
    auto reply = run_mutation(volume, ctx, [&](CommitTicket& ticket) -> Result<RemoveKeyReply> {
      STOA_TRY(locks, NodeLocks::take(ctx, {found->dir, found->node, user_bin.node}));
      STOA_TRY(entry, find_form(volume, *found->dir, parts.last, false));
      if (found->dir->deleted || entry != found->entry || found->node->deleted ||
          !still_kept(volume, user_bin, *found->dir)) {
        changed = true;
        return RemoveKeyReply{};
      }
      if (found->node->record.type != FileType::kRegular) return RemoveKeyReply{false};  // no object
      STOA_CHECK_OK(check_expectation(req.expect, &found->node->record));
      STOA_CHECK_OK(require_remove(ctx, found->dir->record, found->node->record));
      STOA_CHECK_OK(require_changeable(volume, *found->dir));
      STOA_CHECK_OK(require_unsealed(volume, *found->node));
      STOA_ASSERT(entry.id == found->node->id, "what is removed is what was found");
      MetaTxn txn(volume, ctx);
      Inode dir_next = found->dir->record;
      STOA_CHECK_OK(txn.remove_entry(found->dir, dir_next, parts.last, entry));
      if (user_bin) {
        STOA_CHECK_OK(recycle_link(volume, ctx, txn, user_bin, found->node,
                                   {found->dir->id, parts.last, req.root, parts.below()}));
      } else {
        STOA_CHECK_OK(drop_link(volume, txn, found->node, found->dir->id, parts.last));
      }
      txn.put_inode(found->dir, std::move(dir_next));
      txn.note({.kind = ChangeKind::kRemove, .id = found->node->id, .parent = found->dir->id, .name = parts.last});
      STOA_TRY(committed, txn.commit());
      ticket = committed;
      return RemoveKeyReply{true};
    });
    if (reply && changed) continue;
    if (reply && reply->removed) prune_directories(volume, ctx.without_deadline(), req.root, parts.directories);
    return reply;
  }
}

}  // namespace stoa::core
