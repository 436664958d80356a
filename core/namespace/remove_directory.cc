#include "core/namespace/remove_directory.h"

#include "core/kv/keys.h"
#include "core/namespace/drop_link.h"

namespace stoa::core {

Status stage_remove_directory(Tree& tree, MetaTxn& txn, const NodeRef& victim) {
  if (victim->record.entries > 1) return fail(Errc::kNotEmpty);
  if (victim->record.entries == 1) {
    STOA_TRY(marker, find_form(tree, *victim, "", false));
    if (!marker.exists()) return fail(Errc::kNotEmpty);
    // Nobody can lock the marker without coming through its directory, which is locked; its id is higher only by chance,
    // so it is not waited for.
    STOA_TRY(node, tree.nodes.get(marker.id));
    std::unique_lock lock(node->lock, std::try_to_lock);
    if (!lock.owns_lock()) return fail(Errc::kNotEmpty);
    if (node->record.size != 0 || node->record.links > 1) return fail(Errc::kNotEmpty);
    Inode gone = victim->record;
    STOA_CHECK_OK(txn.remove_entry(victim, gone, "", marker));
    STOA_CHECK_OK(drop_link(tree, txn, node, victim->id, ""));
    txn.keep_locked(std::move(lock));
  }
  STOA_CHECK_OK(txn.delete_inode(victim));
  txn.release(victim->payer_of_directory(), {.directories = 1});
  return {};
}

}  // namespace stoa::core
