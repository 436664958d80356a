// The open host files: at most a named number of them, the least recently used closed first. Closing an unsynced file
// loses nothing: the next open takes it as written and syncs it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/blob/local/blob_name.h"
#include "backends/blob/local/host_file.h"
#include "base/metrics.h"

namespace stoa::blob_local {

class FileCache {
 public:
  using Opener = std::function<Result<std::shared_ptr<HostFile>>()>;

  FileCache(std::size_t files_max, MetricRegistry& metrics);

  // The open file, opened when needed. Two threads may open it at once; one of the two is kept.
  Result<std::shared_ptr<HostFile>> get(HostFileKey key, const Opener& opener);
  void insert(HostFileKey key, std::shared_ptr<HostFile> file);
  void erase(HostFileKey key);
  std::size_t size() const;

 private:
  static constexpr std::size_t kShards = 16;
  struct Item {
    std::shared_ptr<HostFile> file;
    bool used = true;  // since the clock's hand last passed
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<std::uint64_t, Item> files;
    std::vector<std::uint64_t> ring;
    std::size_t hand = 0;
  };
  Shard& shard_of(HostFileKey key) { return shards_[(key.bits * 0x9E3779B97F4A7C15ULL) >> 60]; }
  // Makes room in the shard; returns the files to close once the lock is gone.
  std::vector<std::shared_ptr<HostFile>> evict(Shard& shard);
  std::shared_ptr<HostFile> keep(HostFileKey key, std::shared_ptr<HostFile> file);

  const std::size_t shard_max_;
  Gauge& open_;
  Counter& hits_;
  Counter& misses_;
  Counter& evictions_;
  std::array<Shard, kShards> shards_;
};

}  // namespace stoa::blob_local
