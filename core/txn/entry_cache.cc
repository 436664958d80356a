#include "core/txn/entry_cache.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::core {

EntryCache::EntryCache(std::uint64_t entries_max) : slots_(std::max<std::uint64_t>(entries_max, 1)) {}

std::optional<EntryRecord> EntryCache::find(std::string_view key) const {
  const std::size_t slot = slot_of(key);
  const std::lock_guard lock(lock_of(slot));
  const Slot* const found = slots_.find(slot);
  if (found == nullptr || found->key != key) return std::nullopt;
  return found->record;
}

void EntryCache::set(std::string_view key, const EntryRecord& record) {
  STOA_ASSERT(key.size() >= sizeof(FileId), "a name is kept with its directory");
  const std::size_t slot = slot_of(key);
  const std::lock_guard lock(lock_of(slot));
  Slot& place = slots_.at(slot);
  place.key = key;
  place.record = record;
}

}  // namespace stoa::core
