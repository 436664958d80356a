// In-memory cache of small values of files, as last read: inline content, and the metadata that a key protocol stores
// with an object. Reading one from the store takes a third of the cost of a GET of 4 KiB.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "core/api/ids.h"

namespace stoa::core {

// Thread-safe. Bounded; evicts the least recently used.
class ContentCache {
 public:
  using Bytes = std::shared_ptr<const std::string>;  // never changed

  explicit ContentCache(std::uint64_t bytes_max) : shard_bytes_max_(bytes_max / kShards) {}

  // Both need the lock of the file's node, shared or exclusive. `change` is that of its record; each change of the
  // file moves it, so that a value found is the one in the store. Null: not cached.
  Bytes find(FileId id, std::uint64_t change);
  void keep(FileId id, std::uint64_t change, Bytes bytes);

  std::uint64_t bytes() const;  // of the entries, with their overhead

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::uint64_t kOverhead = 200;  // of an entry, in bytes

  struct Entry {
    FileId id;
    std::uint64_t change;
    Bytes bytes;
  };
  struct Shard {
    mutable std::mutex mutex;  // guards the rest
    std::list<Entry> entries;  // most recently used first
    std::unordered_map<FileId, std::list<Entry>::iterator> by_id;
    std::uint64_t bytes = 0;
  };

  static std::uint64_t cost(const Entry& entry) { return entry.bytes->size() + kOverhead; }
  Shard& shard_of(FileId id) { return shards_[static_cast<std::uint64_t>(id) % kShards]; }
  static void drop(Shard& shard, std::list<Entry>::iterator entry);

  const std::uint64_t shard_bytes_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace stoa::core
