#include "core/recycle/origin.h"

#include "core/kv/keys.h"
#include "core/recycle/bin.h"

namespace stoa::core {
namespace {

constexpr int kDepthMax = 100'000;  // deeper than any real tree

// The name of a directory, and its parent.
struct Place {
  FileId parent;
  std::string raw;
};
Result<std::optional<Place>> place_of(const VolumeView& volume, FileId dir) {
  const std::string lower = keys::id_key(dir);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  STOA_CHECK_OK(it->status());
  if (!it->valid()) return std::nullopt;
  std::string_view raw = keys::after_id(keys::after_id(it->key()));
  raw.remove_suffix(1);
  return Place{keys::id_of(keys::after_id(it->key())), std::string(raw)};
}

}  // namespace

Result<std::vector<NodeRef>> directories_of_key(const VolumeView& volume, const OpContext& ctx, FileId base,
                                                std::string_view below) {
  STOA_TRY(node, volume.nodes.get(base));
  std::vector<NodeRef> present{node};
  for (; !below.empty(); below.remove_prefix(below.find('/') + 1)) {
    EntryRecord entry;
    {
      STOA_TRY(lock, share_by(node->lock, ctx.deadline));
      if (!require_directory(*node)) break;
      STOA_TRY(found, find_form(volume, *node, below.substr(0, below.find('/')), true));
      entry = found;
    }
    if (!entry.exists()) break;
    auto next = volume.nodes.get(entry.id);
    if (!next && next.error().code != Errc::kStale) return fail(next.error());
    if (!next) break;  // removed since
    present.push_back(node = *std::move(next));
  }
  return present;
}

Result<std::optional<Origin>> origin_of(const VolumeView& volume, const OpContext& ctx, ItemRecord item) {
  Origin origin{item.parent, item.raw};
  for (int depth = 0; depth < kDepthMax; ++depth) {
    const auto dir = volume.nodes.get(origin.dir);
    if (!dir && dir.error().code != Errc::kStale) return fail(dir.error());
    if (!dir) {
      // Directories that only the key implied went with it.
      if (origin.dir != item.parent || item.base == kNoFile || item.base == origin.dir) return std::nullopt;
      const auto present = directories_of_key(volume, ctx, item.base, item.below);
      if (!present && present.error().code == Errc::kStale) return std::nullopt;
      STOA_CHECK_OK(present);
      for (std::size_t i = present->size(); --i > 0;) origin.directories.push_back((*present)[i]->id);
      origin.dir = item.base;
      origin.key = item.below + origin.key;
      continue;
    }
    STOA_TRY(recycled, is_recycled(volume, ctx, *dir));
    if (!recycled) return origin;
    origin.directories.push_back(origin.dir);
    STOA_TRY(place, place_of(volume, origin.dir));
    if (!place) return std::nullopt;
    const auto above = volume.nodes.get(place->parent);
    if (!above && above.error().code != Errc::kStale) return fail(above.error());
    if (!above) return std::nullopt;
    STOA_TRY(bin, bin_of_user_bin(volume, ctx, **above));
    if (bin == kNoFile) {
      origin.dir = place->parent;
      origin.key = place->raw + "/" + origin.key;
      continue;
    }
    auto outer = item_of(volume, bin, place->raw);
    if (!outer && outer.error().code != Errc::kNotFound) return fail(outer.error());
    if (!outer) return std::nullopt;
    item = std::move(outer->second);
    origin.dir = item.parent;
    origin.key = item.raw + "/" + origin.key;
  }
  return fail(Errc::kCorrupt, "the directories form a cycle");
}

}  // namespace stoa::core
