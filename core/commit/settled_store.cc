#include "core/commit/settled_store.h"

#include <map>

namespace stoa::core {
namespace {

// The committer itself makes the records of these families, so their keys are in no queued batch.
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

// What is in the store, with what is queued in front of it.
class MergedIterator final : public KvIterator {
 public:
  MergedIterator(std::unique_ptr<KvIterator> stored, std::map<std::string, std::optional<std::string>> queued)
      : stored_(std::move(stored)), queued_(std::move(queued)), at_(queued_.begin()) {
    settle();
  }
  void seek(std::string_view key) override {
    stored_->seek(key);
    at_ = queued_.lower_bound(std::string(key));
    settle();
  }
  bool valid() const override { return from_queue_ || stored_->valid(); }
  void next() override {
    if (from_queue_) {
      if (stored_->valid() && stored_->key() == at_->first) stored_->next();
      ++at_;
    } else {
      stored_->next();
    }
    settle();
  }
  std::string_view key() const override { return from_queue_ ? at_->first : stored_->key(); }
  std::string_view value() const override { return from_queue_ ? *at_->second : stored_->value(); }
  Status status() const override { return stored_->status(); }

 private:
  void settle() {
    for (;; ++at_) {
      from_queue_ = at_ != queued_.end() && (!stored_->valid() || at_->first <= stored_->key());
      if (!from_queue_ || at_->second) return;
      if (stored_->valid() && stored_->key() == at_->first) stored_->next();
    }
  }
  const std::unique_ptr<KvIterator> stored_;
  const std::map<std::string, std::optional<std::string>> queued_;
  std::map<std::string, std::optional<std::string>>::const_iterator at_;
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

Result<bool> SettledStore::get(Family family, std::string_view key, std::string* value) {
  if (made_by_committer(family) ? committer_.anything_queued() : committer_.is_queued(family, key)) {
    if (!committer_.wait_applied()) {
      STOA_TRY(queued, committer_.find_queued(family, key));
      if (queued) {
        if (*queued) *value = **std::move(queued);
        return queued->has_value();
      }
    }
  }
  return kv_.get(family, key, value);
}

Status SettledStore::multi_get(Family family, std::span<const std::string_view> keys,
                               std::span<std::optional<std::string>> values) {
  bool queued = made_by_committer(family) && committer_.anything_queued();
  for (std::size_t i = 0; i < keys.size() && !queued; ++i) queued = committer_.is_queued(family, keys[i]);
  if (!queued || committer_.wait_applied()) return kv_.multi_get(family, keys, values);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::string value;
    STOA_TRY(found, get(family, keys[i], &value));
    values[i].reset();
    if (found) values[i] = std::move(value);
  }
  return {};
}

std::unique_ptr<KvIterator> SettledStore::scan(Family family, std::string_view lower, std::string_view upper) {
  if (committer_.is_range_queued(family, lower, upper) && !committer_.wait_applied()) {
    auto queued = committer_.queued_between(family, lower, upper);
    return std::make_unique<MergedIterator>(kv_.scan(family, lower, upper), std::move(queued));
  }
  return kv_.scan(family, lower, upper);
}

std::unique_ptr<KvReader> SettledStore::snapshot() {
  if (const Status applied = committer_.wait_applied(); !applied)
    return std::make_unique<FailedReader>(applied.error());
  return kv_.snapshot();
}

Status SettledStore::apply(std::span<const WriteBatch* const>) {
  return fail(Errc::kNotSupported, "only the committer writes");
}
Status SettledStore::sync() {
  return fail(Errc::kNotSupported, "only the committer syncs");
}

}  // namespace stoa::core
