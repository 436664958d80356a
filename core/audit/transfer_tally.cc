#include "core/audit/transfer_tally.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::core {

void TransferTally::add(const Transfer& transfer) {
  Shard& shard = shards_[transfer.uid % kShards];
  const std::lock_guard lock(shard.mutex);
  const bool room = shard.users.size() < kUsersMax / kShards || shard.users.contains(transfer.uid);
  Bytes& bytes = shard.users[room ? transfer.uid : kOthers];
  STOA_ASSERT(shard.users.size() <= kUsersMax / kShards + 1, "users that are told apart have a limit");
  bytes.read += transfer.read;
  bytes.written += transfer.written;
}

std::vector<Transfer> TransferTally::take() {
  std::unordered_map<std::uint32_t, Bytes> users;
  for (Shard& shard : shards_) {
    std::unordered_map<std::uint32_t, Bytes> some;
    {
      const std::lock_guard lock(shard.mutex);
      some.swap(shard.users);
    }
    for (const auto& [uid, bytes] : some) {
      users[uid].read += bytes.read;
      users[uid].written += bytes.written;
    }
  }
  std::vector<Transfer> all;
  all.reserve(users.size());
  for (const auto& [uid, bytes] : users) all.push_back({uid, bytes.read, bytes.written});
  std::ranges::sort(all, {}, &Transfer::uid);
  return all;
}

}  // namespace stoa::core
