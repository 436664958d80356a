#include "core/recycle/list.h"

#include <algorithm>
#include <map>

#include "core/api/registry.h"
#include "core/kv/keys.h"
#include "core/namespace/posix_name.h"
#include "core/recycle/bin.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kListMax = 1000;
constexpr int kDepthMax = 100'000;  // deeper than any real tree

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

// Where it was, with directories that lie in a bin where they were; empty when one of them is gone.
Result<std::string> original_path(Tree& tree, ItemRecord item) {
  std::string path = shown(item.raw);
  FileId at = item.parent;
  for (int depth = 0; at != kRootId; ++depth) {
    if (depth == kDepthMax) return fail(Errc::kCorrupt, "the directories form a circle");
    const auto place = place_of(tree, at);
    if (!place && place.error().code != Errc::kStale) return fail(place.error());
    if (!place) {
      if (at != item.parent || item.base == kNoFile || item.base == at) return std::string();
      std::string below;
      for (std::string_view rest = item.below; !rest.empty(); rest.remove_prefix(rest.find('/') + 1)) {
        below += shown(rest.substr(0, rest.find('/')));
      }
      path = below + path;
      at = item.base;
      continue;
    }
    const auto parent = tree.nodes.get(place->parent);
    if (!parent) return std::string();
    at = place->parent;
    const FileId bin = bin_of_shelf(tree, **parent);
    if (bin == kNoFile) {
      path = shown(place->raw) + path;
      continue;
    }
    auto outer = item_of(tree, bin, place->raw);
    if (!outer) return std::string();
    item = std::move(outer->second);
    path = shown(item.raw) + path;
    at = item.parent;
  }
  return path;
}

}  // namespace

Result<ListRecycledReply> list_recycled(Tree& tree, const OpContext& ctx, const ListRecycledRequest& req) {
  STOA_TRY(bins, bins_below(tree, req.dir));
  const std::size_t most = std::clamp(req.limit, 1u, kListMax);
  // The oldest of each bin, and of those the oldest of all: serials grow over all bins.
  std::map<std::uint64_t, std::pair<FileId, ItemRecord>> oldest;
  for (const Bin& bin : bins) {
    const auto it = tree.kv.scan(Family::kTrash, keys::item_key(bin.node->id, req.after + 1),
                                 keys::behind_prefix(keys::items_of(bin.node->id)));
    for (; it->valid(); it->next()) {
      const std::uint64_t serial = keys::read_be64(it->key().substr(it->key().size() - sizeof(std::uint64_t)));
      if (oldest.size() > most && serial > oldest.rbegin()->first) break;
      STOA_TRY(item, ItemRecord::decode(it->value()));
      if (!ctx.cred.is_superuser() && item.uid != ctx.cred.uid) continue;
      oldest.emplace(serial, std::pair{bin.node->id, std::move(item)});
      if (oldest.size() > most + 1) oldest.erase(std::prev(oldest.end()));
    }
    STOA_CHECK_OK(it->status());
  }
  ListRecycledReply reply;
  for (const auto& [serial, found] : oldest) {
    if (reply.items.size() == most) {
      reply.truncated = true;
      break;
    }
    const auto& [bin, item] = found;
    STOA_TRY(path, original_path(tree, item));
    reply.items.push_back({.item = {bin, serial},
                           .id = item.id,
                           .type = item.type,
                           .path = std::move(path),
                           .name = posix_name_of(item.raw, false),
                           .bytes = item.bytes,
                           .deleted_at = item.time,
                           .uid = item.uid,
                           .door = item.door,
                           .client = item.client});
  }
  return reply;
}

Result<RecycleStatusReply> recycle_status(Tree& tree, const OpContext&, const RecycleStatusRequest& req) {
  STOA_TRY(dir, tree.nodes.get(req.dir));
  RecycleStatusReply reply;
  const auto snapshot = tree.recycle.registry->snapshot();
  {
    const std::shared_lock chain(tree.tree_lock);
    const std::shared_lock lock(dir->lock);
    STOA_CHECK_OK(require_directory(*dir));
    const Kept kept = snapshot->recycle() != nullptr ? find_policy(*snapshot->recycle(), dir->account) : Kept{};
    if (kept.policy != nullptr) reply.policy = *kept.policy;
    reply.bin_of = kept.anchor == kNoFile && dir->record.has(kHasBin) ? req.dir : kept.anchor;
  }
  if (reply.bin_of == kNoFile) return reply;
  STOA_TRY(bin, bin_of(tree, reply.bin_of));
  if (bin == kNoFile) return reply;
  const auto node = tree.nodes.get(bin);
  if (node) reply.used = tree.ledger.read((*node)->account).usage;
  return reply;
}

}  // namespace stoa::core
