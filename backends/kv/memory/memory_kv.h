// The memory twin of the RocksDB engine, for tests: the same contract (core/kv/kv_store.h), nothing durable. With a
// fault plan it fails at the points "kv.get", "kv.scan", "kv.apply" and "kv.sync", and drops unsynced changes.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>

#include "base/fault_plan.h"
#include "core/kv/kv_store.h"

namespace stoa::kv {

class MemoryKv : public core::KvStore {
 public:
  // `faults` must outlive it.
  explicit MemoryKv(FaultPlan* faults = nullptr) : faults_(faults) {}
  Result<bool> get(core::Family family, std::string_view key, std::string* value) override;
  Status multi_get(core::Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) override;
  std::unique_ptr<core::KvIterator> scan(core::Family family, std::string_view lower, std::string_view upper) override;
  std::unique_ptr<core::KvReader> snapshot() override;
  Status apply(std::span<const core::WriteBatch* const> batches) override;
  Status write_out() override { return {}; }
  Status sync() override;

  // As after a crash in which nothing came through that was not synced. Only with a fault plan, and while no walk or
  // snapshot is open.
  void lose_unsynced();

 private:
  // Each value keeps its history while an iterator may need it: a scan sees the family as of its creation.
  struct Version {
    std::uint64_t sequence;
    std::optional<std::string> value;
  };
  using Table = std::map<std::string, std::vector<Version>, std::less<>>;
  class Iterator;
  class Snapshot;
  static const std::string* as_of(const std::vector<Version>& versions, std::uint64_t sequence);
  void forget_old_versions();
  std::uint64_t oldest_needed() const;

  FaultPlan* const faults_;
  mutable std::shared_mutex mutex_;  // guards everything below
  std::array<Table, core::kFamilies> tables_;
  std::uint64_t sequence_ = 0;
  std::uint64_t synced_ = 0;           // with a fault plan: the sequence that survives a crash
  std::multiset<std::uint64_t> open_;  // sequences seen by open iterators and snapshots
  std::vector<std::pair<core::Family, std::string>> superseded_;
};

}  // namespace stoa::kv
