#include "core/recycle/origin.h"

#include "core/kv/keys.h"
#include "core/namespace/posix_name.h"
#include "core/recycle/bin.h"

namespace stoa::core {
namespace {

constexpr int kDepthMax = 100'000;  // deeper than any real tree

// The name of a directory, and what it is in.
struct Place {
  FileId parent;
  std::string raw;
};
Result<std::optional<Place>> place_of(Tree& tree, FileId dir) {
  const std::string lower = keys::id_key(dir);
  const auto it = tree.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  STOA_CHECK_OK(it->status());
  if (!it->valid()) return std::nullopt;
  std::string_view raw = keys::after_id(keys::after_id(it->key()));
  raw.remove_suffix(1);
  return Place{keys::id_of(keys::after_id(it->key())), std::string(raw)};
}

std::string shown(std::string_view key) {
  std::string path;
  for (;;) {
    const std::size_t slash = key.find('/');
    path.append("/").append(posix_name_of(key.substr(0, slash), false));
    if (slash == std::string_view::npos) return path;
    key.remove_prefix(slash + 1);
  }
}

}  // namespace

Result<Origin> origin_of(Tree& tree, ItemRecord item) {
  Origin origin;
  FileId dir = item.parent, at = dir;
  std::string key = item.raw, whole = key;  // from `dir`, and from `at`
  for (int depth = 0; at != kRootId; ++depth) {
    if (depth == kDepthMax) return fail(Errc::kCorrupt, "the directories form a circle");
    STOA_TRY(place, place_of(tree, at));
    if (!place) {
      // Directories that only the key implied went with it.
      if (at != item.parent || item.base == kNoFile || item.base == at) return origin;
      at = dir = item.base;
      key = whole = item.below + whole;
      continue;
    }
    origin.directories.push_back(at);
    at = place->parent;
    const auto parent = tree.nodes.get(at);
    if (!parent && parent.error().code != Errc::kStale) return fail(parent.error());
    if (!parent) return origin;
    const FileId bin = bin_of_shelf(tree, **parent);
    if (bin == kNoFile) {
      whole = place->raw + "/" + whole;
      continue;
    }
    auto outer = item_of(tree, bin, place->raw);
    if (!outer) return origin;
    item = std::move(outer->second);
    at = dir = item.parent;
    key = whole = item.raw + "/" + whole;
  }
  origin.directories.push_back(kRootId);
  origin.path = shown(whole);
  origin.dir = dir;
  origin.key = std::move(key);
  return origin;
}

}  // namespace stoa::core
