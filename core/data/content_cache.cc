#include "core/data/content_cache.h"

#include "base/assert.h"

namespace stoa::core {

ContentCache::Bytes ContentCache::find(FileId id, std::uint64_t change) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.by_id.find(id);
  if (found == shard.by_id.end()) return nullptr;
  if (found->second->change != change) {
    drop(shard, found->second);
    return nullptr;
  }
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->bytes;
}

void ContentCache::keep(FileId id, std::uint64_t change, Bytes bytes) {
  Entry entry{id, change, std::move(bytes)};
  if (cost(entry) > shard_bytes_max_) return;
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  if (const auto known = shard.by_id.find(id); known != shard.by_id.end()) drop(shard, known->second);
  shard.bytes += cost(entry);
  shard.entries.push_front(std::move(entry));
  const bool added = shard.by_id.emplace(id, shard.entries.begin()).second;
  STOA_ASSERT(added, "a file has one value in the cache");
  while (shard.bytes > shard_bytes_max_) drop(shard, std::prev(shard.entries.end()));
}

std::uint64_t ContentCache::bytes() const {
  std::uint64_t sum = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.bytes;
  }
  return sum;
}

void ContentCache::drop(Shard& shard, std::list<Entry>::iterator entry) {
  STOA_ASSERT(shard.bytes >= cost(*entry), "what leaves the cache was counted");
  shard.bytes -= cost(*entry);
  shard.by_id.erase(entry->id);
  shard.entries.erase(entry);
}

}  // namespace stoa::core
