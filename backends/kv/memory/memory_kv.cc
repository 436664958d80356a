#include "backends/kv/memory/memory_kv.h"

#include <algorithm>
#include <mutex>

#include "base/assert.h"

namespace stoa::kv {

using core::Family;

namespace {
constexpr std::size_t kJournalRecordsMax = 100'000;

Status get_each(core::KvReader& reader, Family family, std::span<const std::string_view> keys,
                std::span<std::optional<std::string>> values) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::string value;
    STOA_TRY(found, reader.get(family, keys[i], &value));
    values[i] = found ? std::optional(std::move(value)) : std::nullopt;
  }
  return {};
}

}  // namespace

const std::string* MemoryKv::as_of(const std::vector<Version>& versions, std::uint64_t sequence) {
  const std::optional<std::string>* seen = nullptr;
  for (const Version& version : versions) {
    if (version.sequence <= sequence) seen = &version.value;
  }
  return seen != nullptr && seen->has_value() ? &**seen : nullptr;
}

class FailedWalk final : public core::KvIterator {
 public:
  explicit FailedWalk(Error error) : error_(std::move(error)) {}
  void seek(std::string_view) override {}
  bool valid() const override { return false; }
  void next() override {}
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  Status status() const override { return fail(error_); }

 private:
  const Error error_;
};

class MemoryKv::Iterator final : public core::KvIterator {
 public:
  Iterator(MemoryKv& kv, Family family, std::string_view lower, std::string_view upper,
           std::optional<std::uint64_t> sequence = {})
      : kv_(kv), table_(kv.tables_[static_cast<std::size_t>(family)]), lower_(lower), upper_(upper) {
    {
      const std::lock_guard lock(kv_.mutex_);
      sequence_ = sequence.value_or(kv_.sequence_);
      registration_ = kv_.open_.insert(sequence_);
    }
    seek(lower);
  }
  ~Iterator() override {
    const std::lock_guard lock(kv_.mutex_);
    kv_.open_.erase(registration_);
  }

  void seek(std::string_view key) override {
    const std::shared_lock lock(kv_.mutex_);
    position(table_.lower_bound(std::max(key, std::string_view(lower_))));
  }
  bool valid() const override { return valid_; }
  void next() override {
    const std::shared_lock lock(kv_.mutex_);
    position(table_.upper_bound(key_));
  }
  std::string_view key() const override { return key_; }
  std::string_view value() const override { return value_; }
  Status status() const override { return {}; }

 private:
  // Copies the first entry at or behind `it` that existed at sequence_.
  void position(Table::const_iterator it) {
    for (valid_ = false; it != table_.end(); ++it) {
      if (!upper_.empty() && it->first >= upper_) return;
      const std::string* const seen = as_of(it->second, sequence_);
      if (seen == nullptr) continue;
      key_ = it->first;
      value_ = *seen;
      valid_ = true;
      return;
    }
  }

  MemoryKv& kv_;
  const Table& table_;
  const std::string lower_, upper_;
  std::uint64_t sequence_ = 0;
  std::multiset<std::uint64_t>::iterator registration_;
  bool valid_ = false;
  std::string key_, value_;
};

class MemoryKv::Snapshot final : public core::KvReader {
 public:
  explicit Snapshot(MemoryKv& kv) : kv_(kv) {
    const std::lock_guard lock(kv_.mutex_);
    sequence_ = kv_.sequence_;
    registration_ = kv_.open_.insert(sequence_);
  }
  ~Snapshot() override {
    const std::lock_guard lock(kv_.mutex_);
    kv_.open_.erase(registration_);
  }
  Result<bool> get(Family family, std::string_view key, std::string* value) override {
    const std::shared_lock lock(kv_.mutex_);
    const Table& table = kv_.tables_[static_cast<std::size_t>(family)];
    const auto it = table.find(key);
    const std::string* const seen = it == table.end() ? nullptr : as_of(it->second, sequence_);
    if (seen == nullptr) return false;
    *value = *seen;
    return true;
  }
  Status multi_get(Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) override {
    return get_each(*this, family, keys, values);
  }
  std::unique_ptr<core::KvIterator> scan(Family family, std::string_view lower, std::string_view upper) override {
    return std::make_unique<Iterator>(kv_, family, lower, upper, sequence_);
  }

 private:
  MemoryKv& kv_;
  std::uint64_t sequence_ = 0;
  std::multiset<std::uint64_t>::iterator registration_;
};

std::unique_ptr<core::KvReader> MemoryKv::snapshot() {
  return std::make_unique<Snapshot>(*this);
}

Result<bool> MemoryKv::get(Family family, std::string_view key, std::string* value) {
  STOA_CHECK_OK(fault_point(faults_, "kv.get"));
  const std::shared_lock lock(mutex_);
  const Table& table = tables_[static_cast<std::size_t>(family)];
  const auto it = table.find(key);
  if (it == table.end() || !it->second.back().value) return false;
  *value = *it->second.back().value;
  return true;
}

Status MemoryKv::multi_get(Family family, std::span<const std::string_view> keys,
                           std::span<std::optional<std::string>> values) {
  return get_each(*this, family, keys, values);
}

std::unique_ptr<core::KvIterator> MemoryKv::scan(Family family, std::string_view lower, std::string_view upper) {
  if (const Status failed = fault_point(faults_, "kv.scan"); !failed)
    return std::make_unique<FailedWalk>(failed.error());
  return std::make_unique<Iterator>(*this, family, lower, upper);
}

Status MemoryKv::sync() {
  STOA_CHECK_OK(fault_point(faults_, "kv.sync"));
  if (faults_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  synced_ = sequence_;
  forget_old_versions();
  return {};
}

void MemoryKv::lose_unsynced() {
  const std::lock_guard lock(mutex_);
  STOA_ASSERT(faults_ != nullptr);
  STOA_ASSERT(open_.empty());
  for (Table& table : tables_) {
    for (auto& [key, versions] : table)
      std::erase_if(versions, [&](const Version& version) { return version.sequence > synced_; });
    std::erase_if(table, [](const auto& entry) { return entry.second.empty(); });
  }
}

Status MemoryKv::apply(std::span<const core::WriteBatch* const> batches) {
  STOA_CHECK_OK(fault_point(faults_, "kv.apply"));
  const std::lock_guard lock(mutex_);
  ++sequence_;
  for (const core::WriteBatch* batch : batches) {
    for (const core::WriteBatch::Op& op : batch->ops()) {
      Table& table = tables_[static_cast<std::size_t>(op.family)];
      std::string key(batch->key(op));
      auto& versions = table[key];
      std::optional<std::string> value;
      if (op.kind == core::WriteBatch::Kind::kAdd) {
        const bool present = !versions.empty() && versions.back().value;
        const auto base = present ? std::optional<std::string_view>(*versions.back().value) : std::nullopt;
        STOA_TRY(sum, core::add_numbers(base, batch->value(op)));
        value = std::move(sum);
      } else if (op.kind == core::WriteBatch::Kind::kPut) {
        value = batch->value(op);
      }
      if (!versions.empty() && versions.back().sequence == sequence_) {
        versions.back().value = std::move(value);
      } else {
        versions.push_back({sequence_, std::move(value)});
      }
      if (versions.size() > 1 || !versions.back().value) superseded_.emplace_back(op.family, std::move(key));
    }
  }
  Table& journal = tables_[static_cast<std::size_t>(Family::kJournal)];
  while (journal.size() > kJournalRecordsMax) journal.erase(journal.begin());
  forget_old_versions();
  return {};
}

std::uint64_t MemoryKv::oldest_needed() const {
  const std::uint64_t by_walks = open_.empty() ? sequence_ : *open_.begin();
  return faults_ == nullptr ? by_walks : std::min(by_walks, synced_);
}

void MemoryKv::forget_old_versions() {
  // A walk holds no table iterator between calls, only a key, so entries may go while walks are open.
  const std::uint64_t oldest = oldest_needed();
  std::vector<std::pair<Family, std::string>> still;
  for (auto& [family, key] : superseded_) {
    Table& table = tables_[static_cast<std::size_t>(family)];
    const auto it = table.find(key);
    if (it == table.end()) continue;
    auto& versions = it->second;
    while (versions.size() > 1 && versions[1].sequence <= oldest) versions.erase(versions.begin());
    if (versions.size() == 1 && !versions[0].value && versions[0].sequence <= oldest) {
      table.erase(it);
    } else if (versions.size() > 1 || !versions[0].value) {
      still.emplace_back(family, std::move(key));
    }
  }
  superseded_.swap(still);
}

}  // namespace stoa::kv
