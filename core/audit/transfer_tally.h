// Bytes read and written by each user, for the daily report, which no single record could give.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace stoa::core {

struct Transfer {
  std::uint32_t uid = 0;
  std::uint64_t read = 0;  // bytes
  std::uint64_t written = 0;
  bool operator==(const Transfer&) const = default;
};

// Thread-safe. Memory is bounded: users beyond the limit in one interval share one entry, that of no user.
class TransferTally {
 public:
  static constexpr std::size_t kUsersMax = 65536;
  static constexpr std::uint32_t kOthers = ~std::uint32_t{0};

  void add(const Transfer& transfer);
  // The transfers added since the last call, by user.
  std::vector<Transfer> take();

 private:
  struct Bytes {
    std::uint64_t read = 0, written = 0;
  };
  static constexpr std::size_t kShards = 16;
  struct alignas(64) Shard {
    std::mutex mutex;  // guards the map
    std::unordered_map<std::uint32_t, Bytes> users;
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace stoa::core
