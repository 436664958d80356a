#include "backends/kv/rocksdb/reclaim.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>

namespace stoa::kv {
namespace {

using std::chrono::steady_clock;

constexpr steady_clock::duration kPause = std::chrono::seconds(2);
constexpr int kPauseFactor = 5;  // a full disk of a large database is not compacted all the time
constexpr steady_clock::duration kPatience = std::chrono::seconds(5);

}  // namespace

Reclaim::Reclaim(rocksdb::DB& db, std::span<rocksdb::ColumnFamilyHandle* const> families, DiskReserve& reserve,
                 const LogGate& log)
    : db_(db),
      families_(families.begin(), families.end()),
      reserve_(reserve),
      log_(log),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Reclaim::~Reclaim() {
  stopping_ = true;
  thread_.request_stop();
  thread_.join();
}

void Reclaim::hold_back() {
  const std::uint64_t room = room_now(), unit = reserve_.plan().unit;
  std::unique_lock lock(mutex_);
  if (room >= reserve_.plan().scarce()) {
    room_left_ = UINT64_MAX;
    return;
  }
  if (room_left_ != UINT64_MAX && room + unit / 2 > room_left_) return;
  // One that begins from now on.
  const std::uint64_t round = asked_ = begun_ + 1;
  wake_.notify_all();
  wake_.wait_for(lock, kPatience, [&] { return ended_ >= round || reserve_.has_room(); });
}

std::uint64_t Reclaim::room_now() {
  const DiskReserve::State now = reserve_.state();
  return now.free + now.held;
}

void Reclaim::run(const std::stop_token& stop) {
  while (reserve_.wait_until_low(stop)) {
    const auto begin = steady_clock::now();
    std::unique_lock lock(mutex_);
    ++begun_;
    lock.unlock();
    round();
    const std::uint64_t room = room_now();
    lock.lock();
    ended_ = begun_;
    room_left_ = room;
    wake_.notify_all();
    const auto pause = std::max(kPause, kPauseFactor * (steady_clock::now() - begin));
    wake_.wait_for(lock, stop, pause, [this] { return asked_ > begun_; });
  }
}

// Whether something that was removed is still there.
bool Reclaim::has_tombstones(rocksdb::ColumnFamilyHandle* family) {
  for (const std::string& property :
       {rocksdb::DB::Properties::kNumDeletesActiveMemTable, rocksdb::DB::Properties::kNumDeletesImmMemTables}) {
    std::uint64_t deletes = 0;
    if (db_.GetIntProperty(family, property, &deletes) && deletes > 0) return true;
  }
  rocksdb::TablePropertiesCollection tables;
  if (!db_.GetPropertiesOfAllTables(family, &tables).ok()) return false;
  return std::ranges::any_of(tables, [](const auto& table) { return table.second->num_deletions > 0; });
}

void Reclaim::round() {
  const std::uint64_t now = db_.GetLatestSequenceNumber();
  if (now == seen_ || !log_.sound()) return;
  std::vector<rocksdb::ColumnFamilyHandle*> shrunk;
  std::ranges::copy_if(families_, std::back_inserter(shrunk), [this](auto* family) { return has_tombstones(family); });
  if (shrunk.empty()) return;
  rocksdb::FlushOptions flush;
  flush.allow_write_stall = true;
  if (!db_.Flush(flush, shrunk).ok()) return;  // tried again with the next write
  rocksdb::CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.allow_write_stall = true;
  compact.canceled = &stopping_;
  for (rocksdb::ColumnFamilyHandle* const family : shrunk) {
    if (stopping_ || !log_.sound() || !db_.CompactRange(compact, family, nullptr, nullptr).ok()) return;
  }
  seen_ = now;
}

}  // namespace stoa::kv
