// View of the store with every committed change, including those not written yet: it looks at the queue first. All
// code but the committer reads through it. Exception: families whose records the committer makes (usage, blob, gc,
// journal). Reading them first has the queue written, and looks at it only when the store refuses the write.
#pragma once

#include "core/commit/committer.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

class ReadYourWritesStore final : public KvStore {
 public:
  ReadYourWritesStore(KvStore& kv, Committer& committer) : kv_(kv), committer_(committer) {}

  Result<bool> get(Family family, std::string_view key, std::string* value) override;
  Status multi_get(Family family, std::span<const std::string_view> keys,
                   std::span<std::optional<std::string>> values) override;
  std::unique_ptr<KvIterator> scan(Family family, std::string_view lower, std::string_view upper) override;
  std::unique_ptr<KvReader> snapshot() override;

  // The committer alone writes: kNotSupported.
  Status apply(std::span<const WriteBatch* const> batches) override;
  Status write_out() override;
  Status sync() override;

  bool has_room() override { return kv_.has_room(); }
  std::uint64_t unpaid_growth_max() const override { return kv_.unpaid_growth_max(); }
  std::optional<Disk> disk() override { return kv_.disk(); }
  std::vector<std::pair<std::string, double>> statistics() const override { return kv_.statistics(); }

 private:
  Result<bool> get_made(Family family, std::string_view key, std::string* value);

  KvStore& kv_;
  Committer& committer_;
};

}  // namespace stoa::core
