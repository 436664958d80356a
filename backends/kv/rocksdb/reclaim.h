// The space reclaimer for a full disk: removed data lies in tables until they are compacted, which RocksDB by itself
// does only when more is written.
#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "backends/kv/rocksdb/disk_reserve.h"
#include "backends/kv/rocksdb/log_gate.h"

namespace stoa::kv {

class Reclaim {
 public:
  // All must outlive it.
  Reclaim(rocksdb::DB& db, std::span<rocksdb::ColumnFamilyHandle* const> families, DiskReserve& reserve,
          const LogGate& log);
  ~Reclaim();

  // Call before a change is written. While room is scarce, waits until earlier removals are compacted away, five
  // seconds at most. Otherwise removals, which need a little room each, come faster than the space that they give back.
  // Returns at once when the last round left no more.
  void hold_back();

 private:
  void run(const std::stop_token& stop);
  void round();
  std::uint64_t room_now();
  bool has_tombstones(rocksdb::ColumnFamilyHandle* family);

  rocksdb::DB& db_;
  const std::vector<rocksdb::ColumnFamilyHandle*> families_;
  DiskReserve& reserve_;
  const LogGate& log_;
  std::atomic<bool> stopping_{false};
  std::uint64_t seen_ = 0;                           // writes before it are compacted
  std::mutex mutex_;                                 // guards the members below
  std::uint64_t begun_ = 0, ended_ = 0, asked_ = 0;  // rounds
  std::uint64_t room_left_ = UINT64_MAX;             // by the last round
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace stoa::kv
