// One transaction on a range of a file, shared by allocate, zero and punch.
#pragma once

#include "core/access/access.h"
#include "core/data/content.h"
#include "core/data/file_view.h"
#include "core/txn/meta_txn.h"
#include "core/txn/sealed.h"

namespace stoa::core {

enum class RangeEffect : std::uint8_t { kSpace, kContent };  // what readers see of it

// A regular file that the caller may change from `offset` on. The node is locked.
inline Status require_range_change(const VolumeView& volume, const OpContext& ctx, const Node& node,
                                   std::uint64_t offset) {
  STOA_CHECK_OK(require_regular(node));
  STOA_CHECK_OK(require_write(ctx, node.record, offset));
  return require_content_changeable(volume, ctx, node);
}

// The same before anything is done, with no lock held.
inline Status check_range_change(const VolumeView& volume, const OpContext& ctx, const NodeRef& node,
                                 std::uint64_t offset) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  return require_range_change(volume, ctx, *node, offset);
}

// The node is locked, and the data gate held exclusively. `stage(txn, next)` fills in the record; times and version are
// set here.
template <class Stage>
Result<RangeReply> change_range_locked(VolumeContext& volume, const OpContext& ctx, const NodeRef& node,
                                       std::uint64_t offset, RangeEffect effect, CommitTicket& ticket, Stage stage) {
  STOA_CHECK_OK(require_range_change(volume, ctx, *node, offset));
  MetaTxn txn(volume, ctx);
  Inode next = node->record;
  RangeReply reply{next.before(), {}};
  STOA_CHECK_OK(stage(txn, next));
  if (effect == RangeEffect::kContent) {
    advance_version(next, txn.now());
    next.touch_content(txn.now());
  } else {
    next.touch(txn.now());
  }
  next.mode = mode_after_write(ctx, next.mode);
  reply.attr = next.attributes();
  txn.put_inode(node, std::move(next));
  const ChangeKind kind = effect == RangeEffect::kContent ? ChangeKind::kContent : ChangeKind::kAttributes;
  STOA_CHECK_OK(txn.note_change(node, {.kind = kind}));
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

// The same with the node not locked yet.
template <class Stage>
Result<RangeReply> change_range(VolumeContext& volume, const OpContext& ctx, const NodeRef& node, std::uint64_t offset,
                                RangeEffect effect, Stage stage) {
  return run_mutation(volume, ctx, [&](CommitTicket& ticket) -> Result<RangeReply> {
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    return change_range_locked(volume, ctx, node, offset, effect, ticket, stage);
  });
}

}  // namespace stoa::core
