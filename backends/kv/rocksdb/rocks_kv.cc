#include "backends/kv/rocksdb/rocks_kv.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/write_buffer_manager.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "backends/kv/rocksdb/damage.h"
#include "backends/kv/rocksdb/disk_reserve.h"
#include "backends/kv/rocksdb/family_options.h"
#include "backends/kv/rocksdb/guarded_files.h"
#include "backends/kv/rocksdb/info_log.h"
#include "backends/kv/rocksdb/log_files.h"
#include "backends/kv/rocksdb/log_gate.h"
#include "backends/kv/rocksdb/reclaim.h"
#include "backends/kv/rocksdb/space_plan.h"
#include "base/log.h"
#include "core/kv/damaged_walk.h"

namespace stoa::kv {
namespace {

using core::Family;
using core::kFamilies;

rocksdb::Slice slice(std::string_view text) {
  return {text.data(), text.size()};
}
std::string_view view(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

// Writes that had been held up report the reason only as text.
bool lacks_room(const rocksdb::Status& status) {
  return status.IsNoSpace() || (status.IsIncomplete() && status.ToString().find("No space left") != std::string::npos);
}

std::unexpected<Error> failed(const rocksdb::Status& status, std::string_view what) {
  Errc code = Errc::kIo;
  if (status.IsCorruption()) code = Errc::kCorrupt;
  if (lacks_room(status)) code = Errc::kNoSpace;
  if (status.IsIOError() && status.ToString().find("lock") != std::string::npos) code = Errc::kBusy;
  return fail(code, std::string(what) + ": " + status.ToString());
}

// A scan that steps over this many tombstones has them compacted away. Files full of them are compacted anyhow
// (family_options). That leaves those still in memory, maybe for ever when nothing else is written, and those of the
// last level, to which a file can sink without being rewritten. RocksDB checks these when a snapshot is released.
constexpr std::uint64_t kTombstonesMax = 16384;

void clear_tombstones(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const LogGate& log) {
  std::uint64_t in_memory = 0;
  if (log.sound() && db.GetIntProperty(family, rocksdb::DB::Properties::kNumDeletesActiveMemTable, &in_memory) &&
      in_memory >= kTombstonesMax) {
    rocksdb::FlushOptions options;
    options.wait = false;
    options.allow_write_stall = true;                  // else the scan would wait whenever writers stall
    db.Flush(options, family).PermitUncheckedError();  // an error shows at the next write
  }
  db.ReleaseSnapshot(db.GetSnapshot());
}

class Iterator final : public core::KvIterator, public core::DamagedWalk {
 public:
  Iterator(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, std::string_view lower, std::string_view upper,
           const rocksdb::Snapshot* snapshot, const LogGate& log)
      : db_(db), family_(family), log_(log), lower_(lower), upper_(upper), lower_slice_(lower_), upper_slice_(upper_) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    if (!lower_.empty()) options.iterate_lower_bound = &lower_slice_;
    if (!upper_.empty()) options.iterate_upper_bound = &upper_slice_;
    it_.reset(db.NewIterator(options, family));
    seek(lower_);
  }
  void seek(std::string_view key) override {
    move([&] { it_->Seek(slice(std::max(key, std::string_view(lower_)))); });
  }
  bool valid() const override { return it_->Valid(); }
  void next() override {
    move([&] { it_->Next(); });
  }
  std::string_view key() const override { return view(it_->key()); }
  std::string_view value() const override { return view(it_->value()); }
  Status status() const override {
    if (it_->status().ok()) return {};
    return failed(it_->status(), "scan");
  }
  std::optional<core::KeyGap> skip_damage(std::string_view last) override {
    if (it_->status().ok()) return std::nullopt;
    core::KeyGap gap;
    gap.from = last.empty() ? lower_ : std::string(last) + '\0';
    for (std::string at = gap.from;;) {
      const auto next = next_piece(db_, family_, at);
      if (!next || (!upper_.empty() && *next >= upper_)) return gap;
      seek(*next);
      at = *next;
      if (!it_->status().ok()) continue;
      gap.to = std::move(at);
      return gap;
    }
  }

 private:
  template <class Move>
  void move(Move step) {
    const rocksdb::PerfContext& counters = *rocksdb::get_perf_context();  // of this thread
    const std::uint64_t before = counters.internal_delete_skipped_count;
    step();
    tombstones_ += counters.internal_delete_skipped_count - before;
    if (tombstones_ < kTombstonesMax) return;
    tombstones_ = 0;
    clear_tombstones(db_, family_, log_);
  }

  rocksdb::DB& db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const LogGate& log_;
  const std::string lower_, upper_;
  const rocksdb::Slice lower_slice_, upper_slice_;  // RocksDB keeps pointers to them
  std::unique_ptr<rocksdb::Iterator> it_;
  std::uint64_t tombstones_ = 0;  // stepped over so far
};

// The families of one database, and reading them.
class Families {
 public:
  Families(rocksdb::DB& db, std::span<rocksdb::ColumnFamilyHandle* const> handles, const LogGate& log)
      : db_(db), log_(log) {
    for (std::size_t i = 0; i < kFamilies; ++i) handles_[i] = handles[i];
  }
  rocksdb::ColumnFamilyHandle* operator[](Family family) const { return handles_[static_cast<std::size_t>(family)]; }
  rocksdb::DB& db() const { return db_; }
  const LogGate& log() const { return log_; }
  std::span<rocksdb::ColumnFamilyHandle* const> all() const { return handles_; }

  Result<bool> get(const rocksdb::Snapshot* snapshot, Family family, std::string_view key, std::string* value) const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    rocksdb::PinnableSlice pinned;
    const rocksdb::Status status = db_.Get(options, (*this)[family], slice(key), &pinned);
    if (status.IsNotFound()) return false;
    if (!status.ok()) return failed(status, "get");
    value->assign(pinned.data(), pinned.size());
    return true;
  }

  Status multi_get(const rocksdb::Snapshot* snapshot, Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) const {
    constexpr std::size_t kAtOnce = 64;
    std::array<rocksdb::Slice, kAtOnce> slices;
    std::array<rocksdb::PinnableSlice, kAtOnce> pinned;
    std::array<rocksdb::Status, kAtOnce> statuses;
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    for (std::size_t at = 0; at < keys.size(); at += kAtOnce) {
      const std::size_t n = std::min(kAtOnce, keys.size() - at);
      for (std::size_t i = 0; i < n; ++i) {
        slices[i] = slice(keys[at + i]);
        pinned[i].Reset();
      }
      db_.MultiGet(options, (*this)[family], n, slices.data(), pinned.data(), statuses.data());
      for (std::size_t i = 0; i < n; ++i) {
        values[at + i].reset();
        if (statuses[i].ok()) {
          values[at + i].emplace(pinned[i].data(), pinned[i].size());
        } else if (!statuses[i].IsNotFound()) {
          return failed(statuses[i], "multi_get");
        }
      }
    }
    return {};
  }

 private:
  rocksdb::DB& db_;
  const LogGate& log_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> handles_{};
};

class Snapshot final : public core::KvReader {
 public:
  explicit Snapshot(const Families& families) : families_(families), snapshot_(families.db().GetSnapshot()) {}
  ~Snapshot() override { families_.db().ReleaseSnapshot(snapshot_); }
  Result<bool> get(Family family, std::string_view key, std::string* value) override {
    return families_.get(snapshot_, family, key, value);
  }
  Status multi_get(Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) override {
    return families_.multi_get(snapshot_, family, keys, values);
  }
  std::unique_ptr<core::KvIterator> scan(Family family, std::string_view lower, std::string_view upper) override {
    return std::make_unique<Iterator>(families_.db(), families_[family], lower, upper, snapshot_, families_.log());
  }

 private:
  const Families& families_;
  const rocksdb::Snapshot* snapshot_;
};

class RocksKv final : public core::KvStore {
 public:
  // Handle 0 is RocksDB's own default family, which must exist and stays empty.
  RocksKv(std::unique_ptr<DiskReserve> reserve, std::unique_ptr<rocksdb::Env> env, rocksdb::DB* db,
          const std::vector<rocksdb::ColumnFamilyHandle*>& handles, std::shared_ptr<rocksdb::Cache> cache)
      : reserve_(std::move(reserve)),
        env_(std::move(env)),
        db_(db),
        cache_(std::move(cache)),
        default_(handles[0]),
        families_(*db, std::span(handles).subspan(1), log_) {
    if (reserve_ != nullptr) reclaim_ = std::make_unique<Reclaim>(*db_, families_.all(), *reserve_, log_);
  }
  ~RocksKv() override {
    reclaim_.reset();
    for (rocksdb::ColumnFamilyHandle* family : families_.all()) db_->DestroyColumnFamilyHandle(family);
    db_->DestroyColumnFamilyHandle(default_);
    db_->Close();
  }

  Result<bool> get(Family family, std::string_view key, std::string* value) override {
    return families_.get(nullptr, family, key, value);
  }
  Status multi_get(Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) override {
    return families_.multi_get(nullptr, family, keys, values);
  }
  std::unique_ptr<core::KvIterator> scan(Family family, std::string_view lower, std::string_view upper) override {
    return std::make_unique<Iterator>(*db_, families_[family], lower, upper, nullptr, log_);
  }
  std::unique_ptr<core::KvReader> snapshot() override { return std::make_unique<Snapshot>(families_); }

  Status apply(std::span<const core::WriteBatch* const> batches) override {
    batch_.Clear();
    for (const core::WriteBatch* batch : batches) {
      for (const core::WriteBatch::Op& op : batch->ops()) {
        const rocksdb::Status added = add_to_batch(*batch, op);
        if (!added.ok()) return failed(added, "batch");
      }
    }
    if (reserve_ != nullptr && !reserve_->has_room()) reclaim_->hold_back();
    // A compaction that had no room breaks off a write that waits for a flush, which has room: it waits again.
    constexpr int kTries = 3;
    Status written;
    for (int i = 0; i < kTries; ++i) {
      STOA_CHECK_OK(recover());
      bool taken = false;
      written = touch_log("write", [&] { return write_batch(taken); });
      // It is visible, and a batch that adds must not be applied twice. recover() makes durable the part missing in
      // the log before the next write or sync.
      if (taken && !written && written.error().code == Errc::kNoSpace) return {};
      if (written || written.error().code != Errc::kNoSpace) break;
    }
    return written;
  }

  Status write_out() override {
    STOA_CHECK_OK(recover());
    return touch_log("write out", [this] { return db_->FlushWAL(false); });
  }

  Status sync() override {
    STOA_CHECK_OK(write_out());
    // Beside the next write. A log whose sync fails may be touched again: it returns the same error each time.
    const rocksdb::Status synced = db_->SyncWAL();
    if (synced.ok()) return {};
    log_.failed(state_after(synced));
    return failed(synced, "sync");
  }

  bool has_room() override { return reserve_ == nullptr || reserve_->has_room(); }
  std::uint64_t unpaid_growth_max() const override {
    return reserve_ == nullptr ? KvStore::unpaid_growth_max() : reserve_->plan().unpaid_growth();
  }
  std::optional<Disk> disk() override {
    if (reserve_ == nullptr) return std::nullopt;
    const DiskReserve::State now = reserve_->state();
    return Disk{.path = reserve_->folder(),
                .total = now.total,
                .free = now.free,
                .reserve = now.held,
                .reserve_wanted = now.wanted,
                .low = now.low};
  }

  std::vector<std::pair<std::string, double>> statistics() const override {
    std::vector<std::pair<std::string, double>> all;
    std::uint64_t value = 0;
    const std::pair<const char*, const char*> properties[] = {
        {"rocksdb.cur-size-all-mem-tables", "memtable_bytes"},
        {"rocksdb.estimate-table-readers-mem", "table_reader_bytes"},
        {"rocksdb.live-sst-files-size", "live_sst_bytes"},
        {"rocksdb.live-blob-file-size", "live_blob_bytes"},
        {"rocksdb.estimate-pending-compaction-bytes", "pending_compaction_bytes"},
        {"rocksdb.num-running-compactions", "running_compactions"},
        {"rocksdb.num-running-flushes", "running_flushes"},
        {"rocksdb.background-errors", "background_errors"},
        {"rocksdb.estimate-num-keys", "estimated_keys"},
    };
    for (const auto& [property, name] : properties) {
      if (db_->GetAggregatedIntProperty(property, &value)) all.emplace_back(name, static_cast<double>(value));
    }
    all.emplace_back("block_cache_bytes", static_cast<double>(cache_->GetUsage()));
    if (reserve_ != nullptr) {
      const DiskReserve::State disk = reserve_->state();
      all.emplace_back("disk_free_bytes", static_cast<double>(disk.free));
      all.emplace_back("disk_reserve_bytes", static_cast<double>(disk.held));
      all.emplace_back("disk_reserve_wanted_bytes", static_cast<double>(disk.wanted));
      all.emplace_back("growth_refused", disk.low ? 1 : 0);
    }
    return all;
  }

 private:
  rocksdb::Status add_to_batch(const core::WriteBatch& batch, const core::WriteBatch::Op& op) {
    rocksdb::ColumnFamilyHandle* const family = families_[op.family];
    switch (op.kind) {
      case core::WriteBatch::Kind::kPut:
        return batch_.Put(family, slice(batch.key(op)), slice(batch.value(op)));
      case core::WriteBatch::Kind::kRemove:
        return batch_.Delete(family, slice(batch.key(op)));
      case core::WriteBatch::Kind::kAdd:
        return batch_.Merge(family, slice(batch.key(op)), slice(batch.value(op)));
    }
    return rocksdb::Status::InvalidArgument();
  }

  // `taken`: it is in memory, even if the log failed.
  rocksdb::Status write_batch(bool& taken) {
    const rocksdb::Status written = db_->Write({}, &batch_);
    taken = written.ok();
    // RocksDB cannot go on when it changes to another log and its buffer of the old one has no room, so the buffer is
    // kept empty.
    return !taken || reserve_ == nullptr || reserve_->has_room() ? written : db_->FlushWAL(false);
  }

  static LogGate::State state_after(const rocksdb::Status& status) {
    return status.ok()          ? LogGate::State::kSound
           : lacks_room(status) ? LogGate::State::kNoRoom
                                : LogGate::State::kBroken;
  }

  template <class Touch>
  Status touch_log(std::string_view what, Touch touch) {
    rocksdb::Status status;
    bool touched = false;
    const LogGate::State state = log_.run([&] {
      touched = true;
      status = touch();
      return state_after(status);
    });
    if (!touched) return fail(state == LogGate::State::kNoRoom ? Cause::kMetadataFull : Cause::kMetadataFailed);
    if (status.ok()) return {};
    const auto error = failed(status, what);
    log_warning("rocksdb", "a change could not be written", {{"error", describe(error.error())}});
    return error;
  }

  // After a write that had no room. RocksDB refuses everything until it is resumed. Then a log may lack changes that
  // are in memory, so all of memory is written as tables before anything counts as durable.
  Status recover() {
    if (log_.state() != LogGate::State::kNoRoom) return {};
    const std::lock_guard lock(recovering_);
    if (log_.state() != LogGate::State::kNoRoom) return {};
    if (reserve_ != nullptr) {
      const DiskReserve::State disk = reserve_->state();
      if (disk.free + disk.held < reserve_->plan().recovery()) return fail(Cause::kMetadataFull);
    }
    rocksdb::Status status = db_->Resume();
    // RocksDB does it by itself. It does not report the end, which comes soon where there is room.
    for (int i = 0; status.IsBusy() && i < kPatienceSteps; ++i) {
      std::this_thread::sleep_for(kPatienceStep);
      status = db_->Resume();
    }
    if (status.IsBusy()) return fail(Cause::kMetadataRecovers);
    if (status.severity() >= rocksdb::Status::kFatalError) {
      log_.failed(LogGate::State::kBroken);
      log_error("rocksdb", "the database cannot go on after its disk was full", {{"error", status.ToString()}});
      return fail(Cause::kMetadataFailed);
    }
    rocksdb::FlushOptions options;
    options.allow_write_stall = true;
    const std::vector<rocksdb::ColumnFamilyHandle*> all(families_.all().begin(), families_.all().end());
    if (status.ok()) status = db_->Flush(options, all);
    if (!status.ok()) return failed(status, "resume");
    log_.recovered();
    log_info("rocksdb", "the database goes on after its disk was full");
    return {};
  }

  static constexpr int kPatienceSteps = 50;
  static constexpr std::chrono::milliseconds kPatienceStep{20};
  const std::unique_ptr<DiskReserve> reserve_;  // null: none is kept
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  std::shared_ptr<rocksdb::Cache> cache_;
  rocksdb::ColumnFamilyHandle* const default_;
  LogGate log_;
  const Families families_;
  rocksdb::WriteBatch batch_;  // reused: one caller of apply() at a time
  std::mutex recovering_;
  std::unique_ptr<Reclaim> reclaim_;
};

}  // namespace

Result<std::unique_ptr<core::KvStore>> open_rocks(const RocksOptions& options) {
  std::error_code error;
  const bool present = std::filesystem::exists(options.path + "/CURRENT", error);
  if (!present && !options.create) return fail(Cause::kMetadataMissing, options.path);

  auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  if (options.create) std::filesystem::create_directories(options.path, error);
  rocksdb::DBOptions db;
  const std::uint64_t total = options.reserve && !options.damaged ? file_system_bytes(options.path) : 0;
  const SpacePlan plan = total != 0 ? SpacePlan::of(total) : SpacePlan();
  std::unique_ptr<DiskReserve> reserve;
  std::shared_ptr<rocksdb::FileSystem> files = rocksdb::FileSystem::Default();
  if (total != 0) {
    reserve = std::make_unique<DiskReserve>(options.path, plan);
    files = guarded_files(files, *reserve);
  }
  if (options.zeroed_log_bytes != 0 && !options.damaged) {
    files = zeroed_logs(files, options.path, std::min(options.zeroed_log_bytes, plan.zeroed_log()),
                        [disk = reserve.get()] { return disk == nullptr || disk->has_room(); });
  }
  std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  db.env = env.get();
  db.info_log = info_log();
  db.create_if_missing = options.create;
  db.create_missing_column_families = true;
  db.manual_wal_flush = true;  // the WAL leaves the process with write_out() and sync(), for many commits at once
  db.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(options.write_buffer_bytes);
  db.max_background_jobs = 2;
  db.max_total_wal_size = plan.logs();
  db.bytes_per_sync = 1u << 20;
  db.max_open_files = -1;  // required by FIFO compaction; the memory of open files is in the block cache
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  db.allow_concurrent_memtable_write = false;  // the committer is the only writer
  db.enable_write_thread_adaptive_yield = false;

  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  // Stays empty. RocksDB goes on by itself after a full disk when there is room for the largest buffer, its default
  // too.
  descriptors.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions{});
  descriptors.back().options.write_buffer_size = plan.write_buffer();
  for (std::size_t i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    descriptors.emplace_back(std::string(to_string(family)), family_options(family, options, plan, cache));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  db.paranoid_checks = !options.damaged;  // else missing and short files keep all others from being read
  const rocksdb::Status status = options.damaged
                                     ? rocksdb::DB::OpenForReadOnly(db, options.path, descriptors, &handles, &opened)
                                     : rocksdb::DB::Open(db, options.path, descriptors, &handles, &opened);
  if (!status.ok()) return failed(status, "open " + options.path);
  return std::unique_ptr<core::KvStore>(
      new RocksKv(std::move(reserve), std::move(env), opened, handles, std::move(cache)));
}

}  // namespace stoa::kv
