// The account of a directory, and its changes. Both sides of the ledger (core/usage/ledger.h) are kept in it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/usage/account_counters.h"

namespace stoa::core {

struct Account {
  Account() = default;
  // One after the other: the directories above may be more than a stack has room for.
  ~Account() {
    while (parent != nullptr && parent.use_count() == 1) parent = std::shared_ptr<Account>(std::move(parent->parent));
  }

  FileId dir = kNoFile;
  // The next account of its chain: of a plain directory, that of the directory above. Null: the end of the chain, which
  // is the volume's root, or a stand-in for a directory on another shard. Changed only under the exclusive tree lock
  // and the ledger's mutex.
  std::shared_ptr<Account> parent;
  AccountCounters reserved;   // guarded by the ledger's mutex
  AccountCounters committed;  // the committer's alone
  // Fixed for life: the class of all charges from here up. kLive: their own class. kRecycled: a recycle bin
  // (core/recycle/bin.h). kMultipart: the directory of an upload, charged where its object is to be
  // (Inode::charged_to).
  UsageClass child_class = UsageClass::kLive;
  bool ended = false;  // the committer's: the directory is gone, and files are still charged here
  // The nesting depth of the directories that it counts: reached at least once, and never exceeded (core/txn/depth.h).
  mutable std::atomic<std::uint32_t> height{0};
  std::uint64_t lags_in =
      0;  // the committer's: the turn (Committer) since which the store has less of it than `committed`
};
using AccountRef = std::shared_ptr<Account>;
// The nearest account, from this one on, at and above which charges are not put into this class for their directory's
// sake.
AccountRef beyond(const AccountRef& account, UsageClass made);

// The charge target of a file: the account of its directory and all above, and in those that count owners, its owner's
// counter.
struct ChargeTarget {
  AccountRef account;
  Owner owner;
  FileId file;  // no default: a charge that knew of none would be taken for that of a file that is counted
  UsageClass of = UsageClass::kLive;
};
// The class of a charge in an account that it reaches as `below`.
inline UsageClass class_in(const Account& account, UsageClass below) {
  return account.child_class != UsageClass::kLive ? account.child_class : below;
}

// Visits each account that counts a charge to the target, from the lowest up, with the class it counts as.
template <class Visit>
void for_each_charged(const ChargeTarget& target, Visit visit) {
  UsageClass of = target.of;
  for (const AccountRef* at = &target.account; *at != nullptr; at = &(*at)->parent) {
    of = class_in(**at, of);
    visit(*at, of);
  }
}

// Growth, or with a negative delta, a future release: reserved by an operation, and part of its commit.
struct Charge {
  ChargeTarget target;
  Usage delta;
};

// One step of counting usage by user and group: more files are counted now, in the accounts that keep these `files`.
// Nothing is charged or committed meanwhile, and both sides of the accounts take their own such step.
struct CountStep {
  std::shared_ptr<CountedFiles> files;
  std::vector<AccountRef> joining{};  // accounts that are to be counted, and begin with the first file
  std::vector<Charge> found{};        // the newly counted files with the usage of each
  CountedFiles after{};               // value of `files` after the step
};
void take_step(const CountStep& step, AccountCounters Account::* side);

// A change of an account's state, applied after the charges of the same commit.
struct AccountChange {
  AccountRef account;
  std::optional<QuotaLimits> limits{};
  std::optional<QuotaLimits> child_limits{};
  std::optional<std::pair<OwnerKey, QuotaLimits>> owner_limits{};
  std::optional<OwnersCounted> owners{};
  bool ends = false;  // its directory does, and there is no other setting

  // On one side. `changed`: see account_counters.h.
  template <class Changed>
  void apply(AccountCounters& counters, Clock clock, Changed changed) const {
    if (ends) return counters.end();
    if (owners) counters.count_owners(*owners, clock, changed);
    if (limits) counters.set_limits(*limits, clock, changed);
    if (child_limits) counters.set_for_children(*child_limits);
    if (owner_limits) counters.set_limits(owner_limits->first, owner_limits->second, clock, changed);
  }
};

}  // namespace stoa::core
