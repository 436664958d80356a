#include "core/usage/counters.h"

#include "base/debug_assert.h"

namespace stoa::core {
namespace {

// The clock starts when the limit is passed and ends when it is kept again.
bool follow_one(std::optional<std::uint64_t> soft, ByteCount used, Timestamp& since, Clock clock) {
  const bool over = soft && used > *soft;
  if (over == is_over(since)) return false;
  since = over ? clock->wall() : Timestamp{};
  return true;
}

}  // namespace

std::uint64_t files_of(const Usage& usage) {
  const std::int64_t both = usage.files + usage.directories;
  return both > 0 ? static_cast<std::uint64_t>(both) : 0;
}
bool is_over(const Timestamp& since) {
  return since.ns != 0;
}
Timestamp grace_end(const Timestamp& since, const QuotaLimits& limits) {
  return {since.ns + std::int64_t{limits.grace_s} * 1'000'000'000};
}

Status Counters::admit(const Usage& delta, Clock clock) const {
  const Usage after = counted() + delta;
  const auto refuses = [&](bool grows, const std::optional<std::uint64_t>& hard, ByteCount wanted,
                           const Timestamp& over_since) {
    if (!grows) return false;
    if (hard && wanted > *hard) return true;
    return is_over(over_since) && clock->wall() >= grace_end(over_since, limits);
  };
  if (refuses(delta.bytes > 0, limits.bytes, after.bytes, since.bytes) ||
      refuses(delta.files + delta.directories > 0, limits.files, files_of(after), since.files)) {
    return fail(Errc::kQuota);
  }
  return {};
}

CountersChange change_of(const Usage& delta, UsageClass of, const ExcludedClasses& excluded) {
  CountersChange change{.all = delta, .by_class = {}, .counted = excluded.has(of) ? Usage{} : delta};
  if (of != UsageClass::kLive) change.by_class[of] = delta;
  return change;
}
CountersChange operator+(const CountersChange& a, const CountersChange& b) {
  return {a.all + b.all, a.by_class + b.by_class, a.counted + b.counted};
}
CountersChange operator-(const CountersChange& a) {
  return {-a.all, -a.by_class, -a.counted};
}
bool is_zero(const CountersChange& a) {
  return is_zero(a.all) && a.by_class == UsageByClass{} && is_zero(a.counted);
}

Counters Counters::of(const UsageRecord& record, const ExcludedClasses& excluded) {
  Counters counter{record.usage, record.limits, record.since};
  counter.set_not_live({record.by_class, sum_of(record.by_class, excluded)});
  return counter;
}

void Counters::set_not_live(const NotLive& to) {
  for (const Usage& amount : to.by_class.amounts) {
    STOA_DEBUG_ASSERT(!is_negative(amount), "no class is below zero");
  }
  STOA_DEBUG_ASSERT(!is_negative(to.excluded), "what limits leave out is not below zero");
  if (to.by_class == UsageByClass{} && is_zero(to.excluded)) {
    not_live.reset();
  } else if (not_live == nullptr) {
    not_live = std::make_unique<NotLive>(to);
  } else {
    *not_live = to;
  }
}

bool Counters::add(const CountersChange& change, Clock clock) {
  used = used + change.all;
  STOA_DEBUG_ASSERT(!is_negative(used), "no more is released than was charged");
  const Usage excluded = change.all + -change.counted;
  if (change.by_class != UsageByClass{} || !is_zero(excluded)) {
    const NotLive before = not_live != nullptr ? *not_live : NotLive{};
    set_not_live({before.by_class + change.by_class, before.excluded + excluded});
  }
  STOA_DEBUG_ASSERT(!is_negative(counted()), "limits see no less than nothing");
  return follow(clock);
}

void Counters::leave_out(const ExcludedClasses& classes) {
  set_not_live({by_class(), sum_of(by_class(), classes)});
}

bool Counters::limit(const QuotaLimits& to, Clock clock) {
  limits = to;
  return follow(clock);
}

bool Counters::follow(Clock clock) {
  if (clock == nullptr) return false;
  const Usage seen = counted();
  const bool bytes = follow_one(limits.soft_bytes, seen.bytes, since.bytes, clock);
  const bool files = follow_one(limits.soft_files, files_of(seen), since.files, clock);
  return bytes || files;
}

}  // namespace stoa::core
