#include "core/links/remove_directory.h"

#include "core/kv/keys.h"
#include "core/links/drop_link.h"

namespace stoa::core {

namespace {

// The folder marker of a directory that is empty to POSIX protocols; null: there is none.
Result<NodeRef> find_marker(VolumeContext& volume, const NodeRef& victim, EntryRecord& entry) {
  if (victim->record.entries == 0) return nullptr;
  if (victim->record.entries > 1) return fail(Errc::kNotEmpty);
  STOA_TRY(marker, find_form(volume, *victim, "", false));
  if (!marker.exists()) return fail(Errc::kNotEmpty);
  entry = marker;
  return volume.nodes.get(marker.id);
}

// The marker is locked only through its directory, which is locked. Its id is higher only by chance, so this does not
// wait for it.
Status lock_marker(const NodeRef& marker, std::unique_lock<RwLock>& lock) {
  lock = std::unique_lock(marker->lock, std::try_to_lock);
  if (!lock.owns_lock() || marker->record.size != 0 || marker->record.links > 1) return fail(Errc::kNotEmpty);
  return {};
}

}  // namespace

Status require_empty(VolumeContext& volume, const NodeRef& dir) {
  EntryRecord entry;
  STOA_TRY(marker, find_marker(volume, dir, entry));
  if (marker == nullptr) return {};
  std::unique_lock<RwLock> lock;
  return lock_marker(marker, lock);
}

Status stage_remove_directory(VolumeContext& volume, MetaTxn& txn, const NodeRef& victim) {
  EntryRecord entry;
  STOA_TRY(marker, find_marker(volume, victim, entry));
  if (victim->record.has(kHasBin)) return fail(Cause::kBinNotEmpty);
  if (marker != nullptr) {
    std::unique_lock<RwLock> lock;
    STOA_CHECK_OK(lock_marker(marker, lock));
    Inode gone = victim->record;
    STOA_CHECK_OK(txn.remove_entry(victim, gone, "", entry));
    STOA_CHECK_OK(drop_link(volume, txn, marker, victim->id, ""));
    txn.keep_locked(marker, std::move(lock));
  }
  STOA_CHECK_OK(txn.delete_inode(victim));
  txn.release(victim->charge_target_of_directory(), usage_of(victim->record));
  return {};
}

}  // namespace stoa::core
