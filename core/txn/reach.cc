#include "core/txn/reach.h"

#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// Whether one of the names of a file is. Rarely needed: for files that count in one export and have a name in
// another.
Result<bool> has_name_below(const VolumeView& volume, const OpContext& ctx, FileId id) {
  FileId looked_at = kNoFile;
  const std::string lower = keys::id_key(id);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    const FileId parent = keys::id_of(keys::after_id(it->key()));
    if (parent == std::exchange(looked_at, parent)) continue;
    const auto dir = volume.nodes.get(parent);
    if (!dir && dir.error().code == Errc::kStale) continue;  // removed since
    if (!dir) return fail(dir.error());
    STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
    if (lies_in((*dir)->chains_now().ancestry, ctx.root)) return true;
  }
  STOA_CHECK_OK(it->status());
  return false;
}

}  // namespace

Result<NodeRef> reach(const VolumeView& volume, const OpContext& ctx, FileId id) {
  STOA_TRY(node, volume.nodes.get(id));
  if (ctx.root == kNoFile) return node;
  // Read before the locks: results found while a directory moved are not cached.
  const std::uint64_t moves = volume.nodes.moves();
  if (node->reach.recall(ctx.root, moves)) return node;
  {
    STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    if (lies_in(node->ancestry, ctx.root)) {
      node->reach.remember(ctx.root, moves);
      return node;
    }
    if (node->record.is_directory() || node->record.links <= 1) return fail(Errc::kStale);
  }
  STOA_TRY(named, has_name_below(volume, ctx, id));
  if (!named) return fail(Errc::kStale);
  return node;
}

}  // namespace stoa::core
