#include "backends/kv/rocksdb/reclaim.h"

#include <algorithm>
#include <chrono>

namespace stoa::kv {
namespace {

using std::chrono::steady_clock;

constexpr steady_clock::duration kPause = std::chrono::seconds(2);
constexpr int kPauseFactor = 5;  // a full disk of a large database is not compacted all the time

}  // namespace

Reclaim::Reclaim(rocksdb::DB& db, std::span<rocksdb::ColumnFamilyHandle* const> families, DiskReserve& reserve)
    : db_(db), families_(families.begin(), families.end()), reserve_(reserve),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Reclaim::~Reclaim() {
  stopping_ = true;
  thread_.request_stop();
  thread_.join();
}

void Reclaim::run(const std::stop_token& stop) {
  while (reserve_.wait_until_low(stop)) {
    const auto begin = steady_clock::now();
    round();
    const auto pause = std::max(kPause, kPauseFactor * (steady_clock::now() - begin));
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, pause, [] { return false; });
  }
}

// Only families from which something was removed since the last time.
void Reclaim::round() {
  const std::uint64_t now = db_.GetLatestSequenceNumber();
  if (now == seen_) return;
  std::vector<rocksdb::ColumnFamilyHandle*> shrunk;
  for (rocksdb::ColumnFamilyHandle* const family : families_) {
    std::uint64_t active = 0, waiting = 0;
    db_.GetIntProperty(family, rocksdb::DB::Properties::kNumDeletesActiveMemTable, &active);
    db_.GetIntProperty(family, rocksdb::DB::Properties::kNumDeletesImmMemTables, &waiting);
    if (active + waiting > 0) shrunk.push_back(family);
  }
  if (shrunk.empty()) return;
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  if (!db_.Flush(flush, shrunk).ok()) return;  // tried again with the next write
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.allow_write_stall = true;
  compact.canceled = &stopping_;
  for (rocksdb::ColumnFamilyHandle* const family : shrunk) {
    if (stopping_ || !db_.CompactRange(compact, family, nullptr, nullptr).ok()) return;
  }
  seen_ = now;
}

}  // namespace stoa::kv
