#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

// What clients have written and not sent yet comes first. With the tree locked: whoever is granted write caching from
// now on meets the seal (VolumeState::grant_lease).
Status recall_cached_writes(VolumeContext& volume, const OpContext& ctx, FileId dir) {
  // Also where nobody has a lease yet: after a restart, writers come back first.
  Status may = volume.state.before_seal(ctx, dir);
  for (const FileId file : volume.state.files_with_cached_writes()) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    const auto node = volume.nodes.get(file);
    if (!node && node.error().code == Errc::kStale) continue;
    STOA_CHECK_OK(node);
    STOA_TRY(below, lies_below(volume, *node, dir));
    if (!below) continue;
    if (const Status clear = volume.state.before_seal(ctx, file); !clear) may = clear;
  }
  return may;
}

}  // namespace

Status set_sealed(VolumeContext& volume, const OpContext& ctx, const SetSealedRequest& req) {
  if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
  if (req.dir == kMultipartId) return fail(Errc::kInvalid, "uploads cannot be sealed");
  STOA_TRY(node, reach(volume, ctx, req.dir));
  const auto set = [&](CommitTicket& ticket) -> Result<bool> {
    if (req.sealed) STOA_CHECK_OK(recall_cached_writes(volume, ctx, req.dir));
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    STOA_CHECK_OK(require_directory(*node));
    STOA_CHECK_OK(require_outside_bin(volume, *node));
    if (node->record.has(kSealed) == req.sealed) return false;
    MetaTxn txn(volume, ctx);
    Inode next = node->record;
    next.flags = req.sealed ? next.flags | kSealed : next.flags & ~kSealed;
    next.keep();
    next.touch(txn.now());
    txn.records().mark_sealed(req.dir, req.sealed);
    txn.put_inode(node, std::move(next));
    STOA_CHECK_OK(txn.note_change(node, {.kind = ChangeKind::kAttributes}));
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    node->ancestry->sealed.store(req.sealed, std::memory_order_relaxed);
    if (req.sealed) {
      volume.nodes.seals.fetch_add(1, std::memory_order_relaxed);
    } else {
      volume.nodes.seals.fetch_sub(1, std::memory_order_relaxed);
    }
    return true;
  };
  STOA_CHECK_OK(run_mutation(volume, ctx, set, true));
  return {};
}

Result<SealedReply> sealed(const VolumeView& volume, const OpContext& ctx, const SealedRequest& req) {
  STOA_TRY(node, reach(volume, ctx, req.id));
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  STOA_CHECK_OK(require_live(*node));
  STOA_TRY(by, sealing_directory(volume, *node));
  return SealedReply{by};
}

}  // namespace stoa::core
