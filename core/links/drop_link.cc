#include "core/links/drop_link.h"

#include "base/assert.h"
#include "core/data/content.h"
#include "core/kv/keys.h"
#include "core/links/orphan.h"
#include "core/txn/in_bin.h"

namespace stoa::core {

Result<OtherParent> other_parent(VolumeContext& volume, FileId id, FileId dir, std::string_view raw) {
  const std::string lower = keys::id_key(id);
  const std::string gone = keys::link_key(id, dir, raw);
  OtherParent other{nullptr, true};
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    if (it->key() == gone) continue;
    const FileId parent = keys::id_of(keys::after_id(it->key()));
    if (other.dir != nullptr && !other.in_bin && parent != dir) continue;
    STOA_TRY(node, volume.nodes.get(parent));
    const bool recycled = in_bin(volume, node->chains_now().ancestry);
    if (other.dir == nullptr || !recycled) other = {node, recycled};
    if (parent == dir && !recycled) break;
  }
  STOA_CHECK_OK(it->status());
  if (other.dir == nullptr) return fail(Errc::kCorrupt, "a link is missing");
  return other;
}

Status drop_file(VolumeContext& volume, MetaTxn& txn, const NodeRef& node) {
  STOA_ASSERT(!node->record.is_directory(), "a directory has no content to drop");
  STOA_CHECK_OK(drop_content(volume, txn, node));
  STOA_CHECK_OK(txn.delete_inode(node));
  // Includes the reservations of writes in progress: a count of files would not find it any more.
  txn.end_charge(node, usage_of(node->record));
  txn.set_chains(node, {});
  return {};
}

Status drop_link(VolumeContext& volume, MetaTxn& txn, const NodeRef& node, FileId dir, std::string_view raw) {
  const Inode& record = node->record;
  if (record.links <= 1 && record.type == FileType::kRegular && volume.state.keeps(node->id)) {
    return stage_orphan(txn, node);
  }
  if (record.links <= 1) return drop_file(volume, txn, node);
  Inode next = record;
  --next.links;
  next.touch(txn.now());
  Chains carries = node->chains();
  if (record.parent == dir) {
    STOA_TRY(charged, other_parent(volume, node->id, dir, raw));
    if (charged.dir->id != dir) {
      const Status moved =
          txn.move_charge(node, {charged.dir->account, node->charge_target().owner, node->id}, usage_of(record));
      if (moved) {
        next.parent = charged.dir->id;
        carries = charged.dir->chains();
      } else if (moved.error().code != Errc::kQuota) {
        return moved;
      } else {
        next.flags |= kCountsElsewhere;
      }
    }
  }
  txn.put_inode(node, std::move(next));
  // After put_inode, which commits lazily reserved bytes where they were reserved.
  txn.set_chains(node, std::move(carries));
  return {};
}

}  // namespace stoa::core
