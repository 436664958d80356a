// The committed side of the ledger, and what the store is told of it. The committer alone uses it: what the charges of
// a group add up to is written with the group, either as one record of the usage log, or (settling) as the records of
// all directories and owners that the store knows less of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/kv/kv_store.h"
#include "core/usage/account.h"
#include "core/usage/usage_log.h"

namespace stoa::core {

// What directories and owners count and the store does not know, but for the records of the usage log.
struct LaggingUsage {
  std::vector<AccountRef> accounts{};                   // in the order in which they began to lag
  std::vector<std::pair<Account*, OwnerKey>> owners{};  // may name one twice; of these accounts
  std::uint64_t first_record = 0, next_record = 0;      // numbers of the records
};

// Not thread-safe.
class CommittedUsage {
 public:
  explicit CommittedUsage(Clock clock = &kSystemTime) : clock_(clock) {}

  // What a start has taken from the log that it found, before any group.
  void begin_with(LaggingUsage found);
  // Whether there is anything to write.
  bool lags() const { return !lagging_.accounts.empty() || lagging_.first_record != lagging_.next_record; }

  void begin_group();
  // What one transaction charges, and then changes of accounts. In commit order.
  void apply(const std::vector<Charge>& charges, const std::vector<AccountChange>& changes);
  void apply(const CountStep& step);
  // The group is a checkpoint.
  void checkpoint() { checkpoints_ = true; }
  // What the group's usage is in the store.
  void put_group(WriteBatch& batch);

 private:
  void lag(const AccountRef& account);
  void apply(const Charge& charge);
  void apply(const AccountChange& change);
  void put_log(WriteBatch& batch);
  void put_records(WriteBatch& batch);

  // Beyond any of these a group is a checkpoint. So many records are read by a start after a crash.
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
