#include "core/txn/in_bin.h"

namespace stoa::core {

bool in_bin(const VolumeContext& volume, const AccountRef& account) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return false;
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    if (a->upload()) return false;  // it lies elsewhere, wherever it counts
    if (a->bin()) return true;
  }
  return false;
}

AccountRef beyond_bins(const AccountRef& account) {
  AccountRef beyond = account;
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    if (a->bin()) beyond = a->parent;
  }
  return beyond;
}

bool is_recycled(VolumeContext& volume, const NodeRef& node) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return false;
  const std::shared_lock chain(volume.tree_lock);
  const std::shared_lock lock(node->lock);
  return in_bin(volume, node->account);
}

FileId bin_of_user_bin(VolumeContext& volume, Node& dir) {
  if (!volume.recycle.any.load(std::memory_order_acquire)) return kNoFile;
  const std::shared_lock chain(volume.tree_lock);
  const AccountRef account = dir.account_now();
  const Account* const above = account->parent.get();
  return above != nullptr && above->bin() ? above->dir : kNoFile;
}

Status require_outside_bin(const VolumeContext& volume, const Node& node) {
  if (in_bin(volume, node.account))
    return fail(Errc::kReadOnly, "what is in a recycle bin can be restored or purged only");
  return {};
}

Status require_content_outside_bin(const VolumeContext& volume, const OpContext& ctx, const Node& node) {
  return ctx.open != kNoOpen ? Status{} : require_outside_bin(volume, node);
}

}  // namespace stoa::core
