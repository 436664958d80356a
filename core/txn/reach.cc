#include "core/txn/reach.h"

#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// Under the tree lock: the chain stands still.
bool lies_below(const Account* account, FileId root) {
  for (; account != nullptr; account = account->above().get()) {
    if (account->dir == root) return true;
    if (account->upload()) return false;  // counts in its bucket, and lies elsewhere
  }
  return false;
}

// Whether one of the names of a file is. Rarely asked: of files that count in one export and have a name in another.
Result<bool> has_name_below(VolumeContext& volume, FileId id, FileId root) {
  FileId looked_at = kNoFile;
  const std::string lower = keys::id_key(id);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    const FileId parent = keys::id_of(keys::after_id(it->key()));
    if (parent == std::exchange(looked_at, parent)) continue;
    const auto dir = volume.nodes.get(parent);
    if (!dir && dir.error().code == Errc::kStale) continue;  // removed since
    if (!dir) return fail(dir.error());
    const std::shared_lock chain(volume.tree_lock);
    if (lies_below((*dir)->account_now().get(), root)) return true;
  }
  STOA_CHECK_OK(it->status());
  return false;
}

}  // namespace

Result<NodeRef> reach(VolumeContext& volume, const OpContext& ctx, FileId id) {
  STOA_TRY(node, volume.nodes.get(id));
  if (ctx.root == kNoFile) return node;
  // Before the locks: what was found while a directory moved is not taken for what holds since.
  const std::uint64_t moves = volume.ledger.moves();
  if (node->reach.recall(ctx.root, moves)) return node;
  {
    const std::shared_lock chain(volume.tree_lock);
    const std::shared_lock lock(node->lock);
    if (lies_below(node->account.get(), ctx.root)) {
      node->reach.remember(ctx.root, moves);
      return node;
    }
    if (node->record.is_directory() || node->record.links <= 1) return fail(Errc::kStale);
  }
  STOA_TRY(named, has_name_below(volume, id, ctx.root));
  if (!named) return fail(Errc::kStale);
  return node;
}

}  // namespace stoa::core
