// Exact recursive usage with hard limits. Each directory has an account; an operation charges the accounts of its whole
// ancestor chain before it writes anything, and a limit anywhere on the chain refuses it and leaves no trace.
//
// An account has two sides. `reserved` is what is true now for everybody who asks and for the limits. `committed` follows
// the order of commits: the committer alone moves it, and writes it with the very batches that it describes, so that the
// stored usage is exact after any crash.
//
// An account outlives its directory while files are charged to it: a file with names in several directories is charged to
// one of them, and stays so when it loses that name and no other of its directories has room (core/namespace/drop_link.h).
// Limits never see a byte that they did not agree to, and a removal never fails for want of room.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/usage/usage_record.h"

namespace stoa::core {

struct Account {
  FileId dir = kNoFile;
  std::shared_ptr<Account> parent;  // changed only under the exclusive tree lock and the ledger's mutex
  Usage reserved;                   // guarded by the ledger's mutex
  QuotaLimits limits;               // guarded by the ledger's mutex
  Usage committed;                  // the committer's alone
  QuotaLimits committed_limits;     // the committer's alone
  bool ended = false;               // the committer's: the directory is gone, and files are still charged here
  std::uint64_t touched_in = 0;     // the committer's: the group that touched it last
};
using AccountRef = std::shared_ptr<Account>;

class Ledger {
 public:
  // Adds `delta` to the chain from `account` up. Growth beyond a limit: kQuota, and nothing was added. Shrinking always
  // succeeds, also above a limit that was lowered.
  Status reserve(const AccountRef& account, const Usage& delta);
  // Moves a charge: releases it from one chain and reserves it on another. Directories on both chains see no change.
  Status move(const AccountRef& from, const AccountRef& to, const Usage& delta);
  // Takes back what reserve() or move() added, without looking at limits.
  void give_back(const AccountRef& account, const Usage& delta);

  UsageRecord read(const AccountRef& account) const;
  void set_parent(const AccountRef& account, const AccountRef& parent);
  void set_limits(const AccountRef& account, const QuotaLimits& limits);
  // What the tightest limit on the chain leaves; absent members: no limit.
  QuotaLimits room(const AccountRef& account) const;
  // The tightest limits on the chain, as totals for statfs.
  QuotaLimits tightest(const AccountRef& account) const;

 private:
  mutable std::mutex mutex_;
};

// A change that becomes part of a commit: usage of the account and all above it, new limits of the account alone, or the
// end of its directory.
struct Charge {
  AccountRef account;
  Usage delta{};
  std::optional<QuotaLimits> limits{};
  bool ends = false;
};

}  // namespace stoa::core
