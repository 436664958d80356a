#include "backends/blob/local/file_cache.h"

#include <algorithm>

namespace stoa::blob_local {

FileCache::FileCache(std::size_t files_max, MetricRegistry& metrics)
    : shard_max_(std::max<std::size_t>(files_max / kShards, 1)),
      open_(metrics.gauge("stoa_blob_open_files", "Host files held open by the local blob store")),
      hits_(metrics.counter("stoa_blob_open_file_hits_total", "Host files found open")),
      misses_(metrics.counter("stoa_blob_open_file_misses_total", "Host files that had to be opened")),
      evictions_(metrics.counter("stoa_blob_open_file_evictions_total", "Host files closed to stay within the limit")) {
}

Result<std::shared_ptr<HostFile>> FileCache::get(HostFileKey key, const Opener& opener) {
  Shard& shard = shard_of(key);
  {
    const std::lock_guard lock(shard.mutex);
    if (const auto it = shard.files.find(key.bits); it != shard.files.end()) {
      it->second.used = true;
      hits_.add();
      return it->second.file;
    }
  }
  misses_.add();
  STOA_TRY(opened, opener());
  return keep(key, std::move(opened));
}

void FileCache::insert(HostFileKey key, std::shared_ptr<HostFile> file) {
  keep(key, std::move(file));
}

std::shared_ptr<HostFile> FileCache::keep(HostFileKey key, std::shared_ptr<HostFile> file) {
  Shard& shard = shard_of(key);
  std::vector<std::shared_ptr<HostFile>> closing;
  const std::lock_guard lock(shard.mutex);
  const auto [it, fresh] = shard.files.try_emplace(key.bits, Item{std::move(file)});
  const std::shared_ptr<HostFile> kept = it->second.file;
  if (fresh) {
    shard.ring.push_back(key.bits);
    open_.add(1);
    closing = evict(shard);
  }
  return kept;
}

std::vector<std::shared_ptr<HostFile>> FileCache::evict(Shard& shard) {
  std::vector<std::shared_ptr<HostFile>> closing;
  // Two rounds clear every mark; entries still in use then may exceed the limit for a moment.
  std::size_t steps = shard.ring.size() * 2 + 1;
  while (shard.files.size() > shard_max_ && steps-- > 0 && !shard.ring.empty()) {
    if (shard.hand >= shard.ring.size()) shard.hand = 0;
    const auto it = shard.files.find(shard.ring[shard.hand]);
    bool drop = it == shard.files.end();
    if (!drop) {
      // A failed file keeps failing only as long as it is in the cache.
      const bool idle = it->second.file.use_count() == 1 && !it->second.file->failed();
      drop = idle && !it->second.used;
      it->second.used = false;
      if (drop) {
        closing.push_back(std::move(it->second.file));
        shard.files.erase(it);
        open_.add(-1);
        evictions_.add();
      }
    }
    if (drop) {
      shard.ring[shard.hand] = shard.ring.back();
      shard.ring.pop_back();
    } else {
      ++shard.hand;
    }
  }
  return closing;
}

void FileCache::erase(HostFileKey key) {
  Shard& shard = shard_of(key);
  std::shared_ptr<HostFile> closing;  // closed after the lock is gone
  const std::lock_guard lock(shard.mutex);
  const auto it = shard.files.find(key.bits);
  if (it == shard.files.end()) return;
  closing = std::move(it->second.file);
  shard.files.erase(it);
  std::erase(shard.ring, key.bits);
  open_.add(-1);
}

std::size_t FileCache::size() const {
  std::size_t total = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    total += shard.files.size();
  }
  return total;
}

}  // namespace stoa::blob_local
