#include "core/recycle/deleted_below.h"

#include <algorithm>

#include "core/recycle/origin.h"

namespace stoa::core {
namespace {

constexpr std::size_t kRememberedMax = 10'000;

Result<std::vector<Bin>> bins_above(VolumeContext& volume, FileId dir) {
  STOA_TRY(node, volume.nodes.get(dir));
  std::vector<FileId> above;
  {
    const std::shared_lock chain(volume.tree_lock);
    for (AccountRef at = node->account_now();;) {
      at = at->above();
      if (at == nullptr) break;
      above.push_back(at->dir);
    }
  }
  std::vector<Bin> bins;
  for (const FileId id : above) {
    STOA_TRY(bin, bin_of(volume, id));
    if (bin == kNoFile) continue;
    const auto recycle_root = volume.nodes.get(id);
    const auto bin_node = volume.nodes.get(bin);
    if (recycle_root && bin_node) bins.push_back({*recycle_root, *bin_node});  // else it went meanwhile
  }
  return bins;
}

Result<bool> was_below(VolumeContext& volume, const ItemRecord& item, FileId dir) {
  STOA_TRY(origin, origin_of(volume, item));
  if (!origin) return false;
  if (std::ranges::find(origin->directories, dir) != origin->directories.end()) return true;
  const auto node = volume.nodes.get(origin->dir);
  if (!node && node.error().code == Errc::kStale) return false;
  STOA_CHECK_OK(node);
  const std::shared_lock chain(volume.tree_lock);
  const AccountRef account = (*node)->account_now();
  for (const Account* a = account.get(); a != nullptr; a = a->parent.get()) {
    if (a->dir == dir) return true;
  }
  return false;
}

}  // namespace

Result<DeletedBelow> DeletedBelow::make(VolumeContext& volume, FileId dir) {
  DeletedBelow made(volume, dir);
  STOA_TRY(below, bins_below(volume, dir));
  STOA_TRY(above, bins_above(volume, dir));
  for (const Bin& bin : below) made.whole_.insert(bin.node->id);
  made.bins_ = std::move(below);
  made.bins_.insert(made.bins_.end(), above.begin(), above.end());
  return made;
}

Result<bool> DeletedBelow::includes(FileId bin, const ItemRecord& item) {
  if (whole_.contains(bin)) return true;
  const std::tuple was_in{item.parent, item.base, item.below};
  if (const auto known = directories_.find(was_in); known != directories_.end()) return known->second;
  STOA_TRY(below, was_below(volume_, item, dir_));
  if (directories_.size() == kRememberedMax) directories_.clear();
  directories_.emplace(was_in, below);
  return below;
}

}  // namespace stoa::core
