// What one limit is compared with: usage, the limits, and since when a soft one is passed.
#pragma once

#include <map>
#include <memory>

#include "base/clock.h"
#include "core/usage/usage_record.h"

namespace stoa::core {

using Clock = Timestamp (*)();

// A change of a balance: of all that it counts, of the classes that are a part of that, and of what its limits see of
// it.
struct BalanceChange {
  Usage all;
  UsageByClass by_class;
  Usage counted;
};
BalanceChange change_of(const Usage& delta, UsageClass of, const ExcludedClasses& excluded);
BalanceChange operator+(const BalanceChange& a, const BalanceChange& b);
BalanceChange operator-(const BalanceChange& a);
bool is_zero(const BalanceChange& a);

struct Balance {
  struct Apart {
    UsageByClass by_class;
    Usage excluded;  // what limits do not see: the sum of those classes, and what operations that are under way hold
                     // of it
  };

  Usage used;
  QuotaLimits limits;
  SoftExcess since;
  std::unique_ptr<Apart> apart{};  // of `used`; null while all of it is zero: there are directories by the million

  static Balance of(const UsageRecord& record, const ExcludedClasses& excluded);
  Usage counted() const { return apart != nullptr ? used + -apart->excluded : used; }
  UsageByClass by_class() const { return apart != nullptr ? apart->by_class : UsageByClass{}; }
  UsageRecord record() const { return {.usage = used, .limits = limits, .since = since, .by_class = by_class()}; }
  bool is_nothing() const { return is_zero(used) && apart == nullptr && !limits.any(); }

  // kQuota: growth of what is counted by `delta` passes a hard limit, or comes when the grace of a soft one is over.
  // Only growth is refused, each dimension by itself: deleting and shrinking work above a limit, too.
  Status admit(const Usage& delta, Clock clock) const;
  // All that have a clock return whether a soft limit was passed, or is kept again.
  bool add(const BalanceChange& change, Clock clock);
  bool limit(const QuotaLimits& to, Clock clock);
  // Without a look at limits.
  void add(const BalanceChange& change);
  // Other classes are not counted from now on. No operation may be under way that holds some of it.
  void leave_out(const ExcludedClasses& classes);
  bool follow(Clock clock);

 private:
  void set_apart(const Apart& to);
};

// A user or a group.
struct OwnerKey {
  QuotaOf of = QuotaOf::kUser;
  std::uint32_t id = 0;
  auto operator<=>(const OwnerKey&) const = default;
};
using OwnerBalances = std::map<OwnerKey, Balance>;

// How far the files of a volume are counted (core/namespace/owner_count.h): those that were there when that began in
// the order of their ids, and those that came to be since.
struct CountedFiles {
  FileId below = kNoFile;          // ids from here on are still to be counted,
  FileId from{~std::uint64_t{0}};  // up to here
  std::uint64_t looked_at = 0;
  bool has(FileId file) const { return file < below || file >= from; }
};

// The users and groups that own something below a directory.
struct OwnerBooks {
  OwnerBalances balances{};
  // Not null: the balances are of these files only. Every charge knows the file that it is for, and counts if it is one
  // of them.
  std::shared_ptr<const CountedFiles> counted{};

  bool exact() const { return counted == nullptr; }
  bool counts(FileId file) const { return exact() || counted->has(file); }
};

// Whose a file is.
struct Owner {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  OwnerKey user() const { return {QuotaOf::kUser, uid}; }
  OwnerKey group() const { return {QuotaOf::kGroup, gid}; }
  bool operator==(const Owner&) const = default;
};

// All that a directory knows of what is below it.
struct Books {
  Balance total;
  std::unique_ptr<OwnerBooks> owners;         // null: owners are not counted
  std::unique_ptr<QuotaLimits> child_limits;  // null: new directories get no limits

  // What limits do not see, also those of owners.
  const ExcludedClasses& excluded() const { return total.limits.excluded; }
  // As leave_out(), for all balances. Clocks follow with limit() and follow().
  void leave_out(const ExcludedClasses& classes);
  QuotaLimits for_children() const { return child_limits != nullptr ? *child_limits : QuotaLimits{}; }
  void set_for_children(const QuotaLimits& limits) {
    child_limits = limits.says_anything() ? std::make_unique<QuotaLimits>(limits) : nullptr;
  }
  OwnersCounted owners_counted() const {
    return owners == nullptr ? OwnersCounted::kNo
           : owners->exact() ? OwnersCounted::kYes
                             : OwnersCounted::kBeingCounted;
  }
  // kBeingCounted: nothing is counted yet. kYes, of what was being counted: all is, and from now on limits bind and
  // soft ones have clocks; else nothing is there to be counted.
  void count_owners(OwnersCounted to, Clock clock);
};

// Of files and directories.
std::uint64_t files_of(const Usage& usage);
bool is_over(const Timestamp& since);
Timestamp grace_end(const Timestamp& since, const QuotaLimits& limits);

}  // namespace stoa::core
