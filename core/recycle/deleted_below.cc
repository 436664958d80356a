#include "core/recycle/deleted_below.h"

#include <algorithm>

#include "core/kv/keys.h"
#include "core/namespace/posix_name.h"

namespace stoa::core {
namespace {

constexpr int kDepthMax = 100'000;  // deeper than any real tree
constexpr std::size_t kRememberedMax = 10'000;

// The name of a directory, and what it is in.
struct Place {
  FileId parent;
  std::string raw;
};
Result<Place> place_of(Tree& tree, FileId dir) {
  const std::string lower = keys::id_key(dir);
  const auto it = tree.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  STOA_CHECK_OK(it->status());
  if (!it->valid()) return fail(Errc::kStale);
  std::string_view raw = keys::after_id(keys::after_id(it->key()));
  raw.remove_suffix(1);
  return Place{keys::id_of(keys::after_id(it->key())), std::string(raw)};
}

std::string shown(std::string_view raw) { return "/" + posix_name_of(raw, false); }

Result<std::vector<Bin>> bins_above(Tree& tree, FileId dir) {
  STOA_TRY(node, tree.nodes.get(dir));
  std::vector<FileId> above;
  {
    const std::shared_lock chain(tree.tree_lock);
    for (const Account* a = node->account->parent.get(); a != nullptr; a = a->parent.get()) above.push_back(a->dir);
  }
  std::vector<Bin> bins;
  for (const FileId id : above) {
    STOA_TRY(bin, bin_of(tree, id));
    if (bin == kNoFile) continue;
    const auto anchor = tree.nodes.get(id);
    const auto bin_node = tree.nodes.get(bin);
    if (anchor && bin_node) bins.push_back({*anchor, *bin_node});  // else it went meanwhile
  }
  return bins;
}

}  // namespace

Result<Origin> origin_of(Tree& tree, ItemRecord item) {
  std::string path = shown(item.raw);
  Origin origin;
  FileId at = item.parent;
  for (int depth = 0; at != kRootId; ++depth) {
    if (depth == kDepthMax) return fail(Errc::kCorrupt, "the directories form a circle");
    const auto place = place_of(tree, at);
    if (!place && place.error().code != Errc::kStale) return fail(place.error());
    if (!place) {
      if (at != item.parent || item.base == kNoFile || item.base == at) return origin;
      std::string below;
      for (std::string_view rest = item.below; !rest.empty(); rest.remove_prefix(rest.find('/') + 1)) {
        below += shown(rest.substr(0, rest.find('/')));
      }
      path = below + path;
      at = item.base;
      continue;
    }
    origin.directories.push_back(at);
    const auto parent = tree.nodes.get(place->parent);
    if (!parent) return origin;
    at = place->parent;
    const FileId bin = bin_of_shelf(tree, **parent);
    if (bin == kNoFile) {
      path = shown(place->raw) + path;
      continue;
    }
    auto outer = item_of(tree, bin, place->raw);
    if (!outer) return origin;
    item = std::move(outer->second);
    path = shown(item.raw) + path;
    at = item.parent;
  }
  origin.directories.push_back(kRootId);
  origin.path = std::move(path);
  return origin;
}

Result<DeletedBelow> DeletedBelow::make(Tree& tree, FileId dir) {
  DeletedBelow made(tree, dir);
  STOA_TRY(below, bins_below(tree, dir));
  STOA_TRY(above, bins_above(tree, dir));
  for (const Bin& bin : below) made.whole_.insert(bin.node->id);
  made.bins_ = std::move(below);
  made.bins_.insert(made.bins_.end(), above.begin(), above.end());
  return made;
}

Result<bool> DeletedBelow::includes(FileId bin, const ItemRecord& item) {
  if (whole_.contains(bin)) return true;
  const std::pair was_in{item.parent, item.base};
  if (const auto known = directories_.find(was_in); known != directories_.end()) return known->second;
  STOA_TRY(origin, origin_of(tree_, item));
  const bool below = std::ranges::find(origin.directories, dir_) != origin.directories.end();
  if (directories_.size() == kRememberedMax) directories_.clear();
  directories_.emplace(was_in, below);
  return below;
}

}  // namespace stoa::core
