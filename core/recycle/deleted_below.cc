#include "core/recycle/deleted_below.h"

#include <algorithm>
#include <ranges>

#include "core/recycle/origin.h"

namespace stoa::core {
namespace {

constexpr std::size_t kRememberedMax = 10'000;

Result<std::vector<Bin>> bins_above(const VolumeView& volume, const OpContext& ctx, FileId dir) {
  STOA_TRY(node, volume.nodes.get(dir));
  std::vector<FileId> above;
  {
    STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
    above = directories_of(node->chains_now().ancestry);
  }
  above.pop_back();  // itself
  std::vector<Bin> bins;
  for (const FileId id : above | std::views::reverse) {
    STOA_TRY(bin, bin_of(volume, id));
    if (bin == kNoFile) continue;
    const auto recycle_root = volume.nodes.get(id);
    const auto bin_node = volume.nodes.get(bin);
    for (const auto* party : {&recycle_root, &bin_node}) {
      if (!*party && party->error().code != Errc::kStale) return fail(party->error());
    }
    if (recycle_root && bin_node) bins.push_back({*recycle_root, *bin_node});  // else it went meanwhile
  }
  return bins;
}

Result<bool> was_below(const VolumeView& volume, const OpContext& ctx, const ItemRecord& item, FileId dir) {
  STOA_TRY(origin, origin_of(volume, ctx, item));
  if (!origin) return false;
  if (std::ranges::find(origin->directories, dir) != origin->directories.end()) return true;
  const auto node = volume.nodes.get(origin->dir);
  if (!node && node.error().code == Errc::kStale) return false;
  STOA_CHECK_OK(node);
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  return lies_in((*node)->chains_now().ancestry, dir);
}

}  // namespace

Result<DeletedBelow> DeletedBelow::make(const VolumeView& volume, const OpContext& ctx, FileId dir) {
  DeletedBelow made(volume, ctx, dir);
  STOA_TRY(below, bins_below(volume, ctx, dir));
  STOA_TRY(above, bins_above(volume, ctx, dir));
  for (const Bin& bin : below) made.whole_.insert(bin.node->id);
  made.bins_ = std::move(below);
  made.bins_.insert(made.bins_.end(), above.begin(), above.end());
  return made;
}

Result<bool> DeletedBelow::includes(FileId bin, const ItemRecord& item) {
  if (whole_.contains(bin)) return true;
  const std::tuple was_in{item.parent, item.base, item.below};
  if (const auto known = directories_.find(was_in); known != directories_.end()) return known->second;
  STOA_TRY(below, was_below(volume_, ctx_, item, dir_));
  if (directories_.size() == kRememberedMax) directories_.clear();
  directories_.emplace(was_in, below);
  return below;
}

}  // namespace stoa::core
