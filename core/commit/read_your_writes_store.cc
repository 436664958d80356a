#include "core/commit/read_your_writes_store.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"

namespace stoa::core {
namespace {

// The committer itself makes the records of these families when it writes a group; they do not exist earlier.
bool made_by_committer(Family family) {
  return family == Family::kUsage || family == Family::kBlob || family == Family::kGc || family == Family::kJournal;
}

class FailedIterator final : public KvIterator {
 public:
  explicit FailedIterator(Error error) : error_(std::move(error)) {}
  void seek(std::string_view) override {}
  bool valid() const override { return false; }
  void next() override {}
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  Status status() const override { return fail(error_); }

 private:
  const Error error_;
};

// Merges the store with the queue, which takes precedence.
class MergedIterator final : public KvIterator {
 public:
  using Changes = std::vector<QueuedChanges::KeyChange>;
  MergedIterator(std::unique_ptr<KvIterator> stored, Changes queued)
      : stored_(std::move(stored)), queued_(std::move(queued)), at_(queued_.begin()) {
    write_queue();
  }
  void seek(std::string_view key) override {
    stored_->seek(key);
    at_ = std::ranges::lower_bound(queued_, key, {}, &QueuedChanges::KeyChange::key);
    write_queue();
  }
  bool valid() const override { return from_queue_ || stored_->valid(); }
  void next() override {
    if (from_queue_) {
      if (stored_->valid() && stored_->key() == at_->key) stored_->next();
      ++at_;
    } else {
      stored_->next();
    }
    write_queue();
  }
  std::string_view key() const override { return from_queue_ ? at_->key : stored_->key(); }
  std::string_view value() const override { return from_queue_ ? *at_->value : stored_->value(); }
  Status status() const override { return stored_->status(); }

 private:
  void write_queue() {
    for (;; ++at_) {
      // A failed scan of the store reports at once, not behind the queue.
      from_queue_ = at_ != queued_.end() && (stored_->valid() ? at_->key <= stored_->key() : bool(stored_->status()));
      if (!from_queue_ || at_->value) return;
      if (stored_->valid() && stored_->key() == at_->key) stored_->next();
    }
  }
  const std::unique_ptr<KvIterator> stored_;
  const Changes queued_;
  Changes::const_iterator at_;
  bool from_queue_ = false;
};

class FailedReader final : public KvReader {
 public:
  explicit FailedReader(Error error) : error_(std::move(error)) {}
  Result<bool> get(Family, std::string_view, std::string*) override { return fail(error_); }
  Status multi_get(Family, std::span<const std::string_view>, std::span<std::optional<std::string>>) override {
    return fail(error_);
  }
  std::unique_ptr<KvIterator> scan(Family, std::string_view, std::string_view) override {
    return std::make_unique<FailedIterator>(error_);
  }

 private:
  const Error error_;
};

}  // namespace

Result<bool> ReadYourWritesStore::get(Family family, std::string_view key, std::string* value) {
  if (made_by_committer(family)) return get_made(family, key, value);
  switch (committer_.queued().find(family, key, value)) {
    case QueuedChanges::Found::kValue:
      return true;
    case QueuedChanges::Found::kRemoved:
      return false;
    case QueuedChanges::Found::kNothing:
      break;
  }
  return kv_.get(family, key, value);
}

Result<bool> ReadYourWritesStore::get_made(Family family, std::string_view key, std::string* value) {
  if (committer_.anything_queued() && !committer_.wait_applied()) {
    STOA_TRY(queued, committer_.find_made(family, key));
    if (queued) {
      if (*queued) *value = **std::move(queued);
      return queued->has_value();
    }
  }
  return kv_.get(family, key, value);
}

Status ReadYourWritesStore::multi_get(Family family, std::span<const std::string_view> keys,
                                      std::span<std::optional<std::string>> values) {
  STOA_ASSERT(keys.size() == values.size(), "there is a value for each key");
  if (made_by_committer(family)) {
    if (!committer_.anything_queued() || committer_.wait_applied()) return kv_.multi_get(family, keys, values);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      std::string value;
      STOA_TRY(found, get_made(family, keys[i], &value));
      values[i].reset();
      if (found) values[i] = std::move(value);
    }
    return {};
  }
  std::vector<std::pair<std::size_t, std::optional<std::string>>> queued;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::string value;
    const auto found = committer_.queued().find(family, keys[i], &value);
    if (found == QueuedChanges::Found::kValue) queued.emplace_back(i, std::move(value));
    if (found == QueuedChanges::Found::kRemoved) queued.emplace_back(i, std::nullopt);
  }
  if (queued.size() < keys.size()) STOA_CHECK_OK(kv_.multi_get(family, keys, values));
  for (auto& [i, value] : queued) values[i] = std::move(value);
  return {};
}

std::unique_ptr<KvIterator> ReadYourWritesStore::scan(Family family, std::string_view lower, std::string_view upper) {
  if (made_by_committer(family)) {
    if (!committer_.anything_queued() || committer_.wait_applied()) return kv_.scan(family, lower, upper);
    auto made = committer_.made_between(family, lower, upper);
    return std::make_unique<MergedIterator>(kv_.scan(family, lower, upper), std::move(made));
  }
  for (;;) {
    QueuedChanges::Range queued = committer_.queued().between(family, lower, upper);
    auto stored = kv_.scan(family, lower, upper);
    if (queued.changes.empty()) return stored;
    // Both must be of one moment: if the store had a change newer than the look at the queue, a renamed file would
    // appear under both names.
    if (committer_.newest_begun() <= queued.newest)
      return std::make_unique<MergedIterator>(std::move(stored), std::move(queued.changes));
  }
}

std::unique_ptr<KvReader> ReadYourWritesStore::snapshot() {
  if (const Status applied = committer_.wait_applied(); !applied)
    return std::make_unique<FailedReader>(applied.error());
  return kv_.snapshot();
}

Status ReadYourWritesStore::apply(std::span<const WriteBatch* const>) {
  return fail(Errc::kNotSupported, "only the committer writes");
}
Status ReadYourWritesStore::write_out() {
  return fail(Errc::kNotSupported, "only the committer writes");
}
Status ReadYourWritesStore::sync() {
  return fail(Errc::kNotSupported, "only the committer syncs");
}

}  // namespace stoa::core
