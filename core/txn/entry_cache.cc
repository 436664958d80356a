#include "core/txn/entry_cache.h"

#include "base/assert.h"

namespace stoa::core {

EntryCache::EntryCache(std::uint64_t entries_max) : slots_(entries_max < kLocks ? kLocks : entries_max) {}

std::optional<EntryRecord> EntryCache::find(std::string_view key) const {
  const std::size_t slot = slot_of(key);
  const std::lock_guard lock(locks_[slot % kLocks]);
  if (slots_[slot].key != key) return std::nullopt;
  return slots_[slot].record;
}

void EntryCache::set(std::string_view key, const EntryRecord& record) {
  STOA_ASSERT(key.size() >= sizeof(FileId), "a name is kept with its directory");
  const std::size_t slot = slot_of(key);
  const std::lock_guard lock(locks_[slot % kLocks]);
  slots_[slot].key = key;
  slots_[slot].record = record;
}

}  // namespace stoa::core
