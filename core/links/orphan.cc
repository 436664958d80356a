#include "core/links/orphan.h"

#include "base/assert.h"
#include "core/data/content.h"
#include "core/kv/keys.h"
#include "core/links/drop_link.h"
#include "core/txn/in_bin.h"

namespace stoa::core {
Status stage_orphan(MetaTxn& txn, const NodeRef& node) {
  STOA_ASSERT(node->record.type == FileType::kRegular, "only a file is open");
  Inode next = node->record;
  next.links = 0;
  next.touch(txn.now());
  ChargeTarget target = node->charge_target();
  target.of = UsageClass::kOrphans;
  // A bin lists its files, and goes when it is empty, so the orphan is charged above it. If a quota there counts
  // orphans but not recycled files, it may have no room: then the charge stays, as recycled.
  target.account = beyond(node->account, UsageClass::kRecycled);
  Status moved = txn.move_charge(node, target, usage_of(node->record));
  if (!moved && moved.error().code == Errc::kQuota) {
    target.account = node->account;
    moved = txn.move_charge(node, target, usage_of(node->record));
  }
  STOA_CHECK_OK(moved);
  // The record of a damaged file may say of no directory that it counts there.
  const bool counts = target.account != nullptr;
  next.parent = counts ? target.account->dir : kNoFile;
  txn.records().mark_orphan(node->id);
  txn.put_inode(node, std::move(next));
  // After put_inode, which commits lazily reserved bytes where they were reserved.
  AncestryRef ancestry = counts ? find_above(node->ancestry, target.account->dir) : nullptr;
  txn.set_chains(node, {std::move(target.account), std::move(ancestry)});
  return {};
}

Status add_nameless(MetaTxn& txn, const NodeRef& dir, Inode inode) {
  STOA_ASSERT(inode.links == 0);
  inode.flags |= kLinkable;
  STOA_CHECK_OK(txn.reserve({dir->account, {inode.uid, inode.gid}, inode.id, UsageClass::kOrphans}, usage_of(inode)));
  txn.records().mark_orphan(inode.id);
  txn.note({.kind = ChangeKind::kCreate, .id = inode.id, .parent = dir->id, .type = inode.type});
  (void)txn.new_inode(std::move(inode), dir->chains());
  return {};
}

Status stage_first_name(MetaTxn& txn, const NodeRef& dir, const NodeRef& node, Inode& next) {
  STOA_CHECK_OK(txn.move_charge(node, {dir->account, node->charge_target().owner, node->id}, usage_of(node->record)));
  txn.records().remove_orphan_mark(node->id);
  next.flags &= ~kLinkable;
  next.parent = dir->id;
  return {};
}

Status delete_orphan(VolumeContext& volume, FileId file) {
  const auto found = volume.nodes.get(file);
  if (!found && found.error().code == Errc::kStale) return {};
  STOA_CHECK_OK(found);
  const NodeRef& node = *found;
  const OpContext ctx;
  const std::shared_lock tree_lock(volume.tree_lock);
  STOA_TRY(locks, NodeLocks::take(ctx, {node}));
  // A thread that opened it again registered before it looked at the node (VolumeState::open). Either keeps() sees
  // that here, or that thread finds the file deleted.
  if (node->deleted || node->record.links != 0 || volume.state.keeps(file)) return {};
  MetaTxn txn(volume, ctx);
  STOA_CHECK_OK(drop_content(volume, txn, node));
  STOA_CHECK_OK(txn.delete_inode(node, Visible::kNo));
  txn.end_charge(node, usage_of(node->record));  // as drop_file() does
  txn.set_chains(node, {});
  txn.records().remove_orphan_mark(file);
  STOA_CHECK_OK(txn.commit());
  return {};
}

Status sweep_orphans(VolumeContext& volume) {
  if (volume.orphans_swept.load(std::memory_order_relaxed) || volume.state.in_grace()) return {};
  // A thread that removed a last name during grace has committed the orphan by now.
  {
    const std::lock_guard barrier(volume.tree_lock);
  }
  const std::string prefix(keys::kOrphanPrefix);
  const auto it = volume.kv.scan(Family::kState, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) STOA_CHECK_OK(delete_orphan(volume, keys::id_of(it->key().substr(prefix.size()))));
  STOA_CHECK_OK(it->status());
  volume.orphans_swept.store(true, std::memory_order_relaxed);
  return {};
}

}  // namespace stoa::core
