// The counters that one limit is compared with: usage, the limits, and the time since when a soft one is exceeded.
#pragma once

#include <memory>

#include "base/time_source.h"
#include "core/usage/usage_record.h"

namespace stoa::core {

using Clock = const TimeSource*;

// A change of a counter: of the total, of its classes, and of the part excluded from limits.
struct CountersChange {
  Usage all;
  UsageByClass by_class;
  Usage counted;
};
CountersChange change_of(const Usage& delta, UsageClass of, const ExcludedClasses& excluded);
CountersChange operator+(const CountersChange& a, const CountersChange& b);
CountersChange operator-(const CountersChange& a);
bool is_zero(const CountersChange& a);

struct Counters {
  struct NotLive {
    UsageByClass by_class;
    Usage excluded;  // usage excluded from limits: the sum of those classes, and the reservations of running operations
                     // in them
  };

  Usage used;
  QuotaLimits limits;
  SoftExcess since;
  std::unique_ptr<NotLive> not_live{};  // of `used`; null while all of it is zero: there are directories by the million

  static Counters of(const UsageRecord& record, const ExcludedClasses& excluded);
  Usage counted() const { return not_live != nullptr ? used + -not_live->excluded : used; }
  UsageByClass by_class() const { return not_live != nullptr ? not_live->by_class : UsageByClass{}; }
  UsageRecord record() const { return {.usage = used, .limits = limits, .since = since, .by_class = by_class()}; }
  bool is_nothing() const { return is_zero(used) && not_live == nullptr && !limits.any(); }

  // kQuota: growth of the counted usage by `delta` exceeds a hard limit, or comes when the grace of a soft one is over.
  // Only growth is refused, each dimension by itself: deleting and shrinking work above a limit, too.
  Status admit(const Usage& delta, Clock clock) const;
  // All that have a clock return whether a soft limit was passed, or is kept again. Null: neither is looked at.
  bool add(const CountersChange& change, Clock clock);
  bool limit(const QuotaLimits& to, Clock clock);
  // Other classes are not counted from now on. No operation in progress may have reserved some of it.
  void leave_out(const ExcludedClasses& classes);
  bool follow(Clock clock);

 private:
  void set_not_live(const NotLive& to);
};

// Of files and directories.
std::uint64_t files_of(const Usage& usage);
bool is_over(const Timestamp& since);
Timestamp grace_end(const Timestamp& since, const QuotaLimits& limits);

}  // namespace stoa::core
