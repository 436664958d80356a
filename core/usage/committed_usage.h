// The committed side of the ledger, and its records in the store. Used by the committer alone. The sum of a group's
// charges is written with the group, as one record of the usage log. Settling writes the records of all directories
// and owners instead, as far as the store is behind.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/kv/kv_store.h"
#include "core/usage/account.h"
#include "core/usage/usage_log.h"

namespace stoa::core {

// The usage of directories and owners that only the records of the usage log in the store contain.
struct LaggingUsage {
  std::vector<AccountRef> accounts{};                   // in the order in which they began to lag
  std::vector<std::pair<Account*, OwnerKey>> owners{};  // may name one twice; of these accounts
  std::uint64_t first_record = 0, next_record = 0;      // numbers of the records
};

// Not thread-safe.
class CommittedUsage {
 public:
  explicit CommittedUsage(Clock clock = &kSystemTime) : clock_(clock) {}

  // The usage that a start replayed from the log, before any group.
  void begin_with(LaggingUsage found);
  // Whether there is anything to write.
  bool lags() const { return !lagging_.accounts.empty() || lagging_.first_record != lagging_.next_record; }

  void begin_group();
  // Applies the charges of one transaction, and then changes of accounts. In commit order.
  void apply(const std::vector<Charge>& charges, const std::vector<AccountChange>& changes);
  void apply(const CountStep& step);
  // The group is a checkpoint.
  void checkpoint() { checkpoints_ = true; }
  // Adds the records of the group's usage.
  void put_group(WriteBatch& batch);

 private:
  void lag(const AccountRef& account);
  void apply(const Charge& charge);
  void apply(const AccountChange& change);
  void put_log(WriteBatch& batch);
  void put_records(WriteBatch& batch);

  // Beyond any of these a group is a checkpoint. The number of records that a start after a crash reads.
  static constexpr std::uint64_t kLogRecordsMax = 256;
  static constexpr std::size_t kLaggingMax = 1u << 14, kLaggingOwnersMax = 1u << 16;
  const Clock clock_;
  LaggingUsage lagging_{.first_record = 1, .next_record = 1};
  std::uint64_t turn_ = 1;         // from one settling to the next
  UsageLog log_;                   // of the group
  std::vector<AccountRef> ended_;  // that the group charged; may name one twice
  bool checkpoints_ = false;       // the group does
};

}  // namespace stoa::core
