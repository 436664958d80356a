// What one limit is compared with: usage, the limits, and since when a soft one is passed.
#pragma once

#include <memory>

#include "base/time_source.h"
#include "core/usage/usage_record.h"

namespace stoa::core {

using Clock = const TimeSource*;

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
  // All that have a clock return whether a soft limit was passed, or is kept again. Null: neither is looked at.
  bool add(const BalanceChange& change, Clock clock);
  bool limit(const QuotaLimits& to, Clock clock);
  // Other classes are not counted from now on. No operation may be under way that holds some of it.
  void leave_out(const ExcludedClasses& classes);
  bool follow(Clock clock);

 private:
  void set_apart(const Apart& to);
};

// Of files and directories.
std::uint64_t files_of(const Usage& usage);
bool is_over(const Timestamp& since);
Timestamp grace_end(const Timestamp& since, const QuotaLimits& limits);

}  // namespace stoa::core
