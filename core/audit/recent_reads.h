// Rate limit for records of reads and listings: one record stands for all of the same kind within a
// minute.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace stoa::core {

// Thread-safe. Memory is bounded; when it is full, a read may be recorded twice within the minute.
class RecentReads {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPeriod{60};
  static constexpr std::size_t kMost = 65536;

  // Whether this is the first within the period. `key`: a hash of the reader and the file.
  bool first(std::uint64_t key, Time now) {
    Shard& shard = shards_[key % kShards];
    const std::lock_guard lock(shard.mutex);
    if (const auto known = shard.seen.find(key); known != shard.seen.end()) {
      if (now - known->second < kPeriod) return false;
      known->second = now;
      return true;
    }
    if (shard.seen.size() >= kMost / kShards) {
      std::erase_if(shard.seen, [now](const auto& one) { return now - one.second >= kPeriod; });
      if (shard.seen.size() >= kMost / kShards) shard.seen.clear();
    }
    shard.seen.emplace(key, now);
    return true;
  }

 private:
  static constexpr std::size_t kShards = 16;
  struct alignas(64) Shard {
    std::mutex mutex;  // guards the map
    std::unordered_map<std::uint64_t, Time> seen;
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace stoa::core
