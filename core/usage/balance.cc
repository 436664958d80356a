#include "core/usage/balance.h"

#include "base/assert.h"

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

Status Balance::admit(const Usage& delta, Clock clock) const {
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

BalanceChange change_of(const Usage& delta, UsageClass of, const ExcludedClasses& excluded) {
  BalanceChange change{.all = delta, .by_class = {}, .counted = excluded.has(of) ? Usage{} : delta};
  if (of != UsageClass::kLive) change.by_class[of] = delta;
  return change;
}
BalanceChange operator+(const BalanceChange& a, const BalanceChange& b) {
  return {a.all + b.all, a.by_class + b.by_class, a.counted + b.counted};
}
BalanceChange operator-(const BalanceChange& a) {
  return {-a.all, -a.by_class, -a.counted};
}
bool is_zero(const BalanceChange& a) {
  return is_zero(a.all) && a.by_class == UsageByClass{} && is_zero(a.counted);
}

Balance Balance::of(const UsageRecord& record, const ExcludedClasses& excluded) {
  Balance balance{record.usage, record.limits, record.since};
  balance.set_apart({record.by_class, sum_of(record.by_class, excluded)});
  return balance;
}

void Balance::set_apart(const Apart& to) {
  for (const Usage& amount : to.by_class.amounts) STOA_ASSERT(!is_negative(amount));
  if (to.by_class == UsageByClass{} && is_zero(to.excluded)) {
    apart.reset();
  } else if (apart == nullptr) {
    apart = std::make_unique<Apart>(to);
  } else {
    *apart = to;
  }
}

bool Balance::add(const BalanceChange& change, Clock clock) {
  used = used + change.all;
  STOA_ASSERT(!is_negative(used));
  const Usage excluded = change.all + -change.counted;
  if (change.by_class != UsageByClass{} || !is_zero(excluded)) {
    const Apart before = apart != nullptr ? *apart : Apart{};
    set_apart({before.by_class + change.by_class, before.excluded + excluded});
  }
  return follow(clock);
}

void Balance::leave_out(const ExcludedClasses& classes) {
  set_apart({by_class(), sum_of(by_class(), classes)});
}

bool Balance::limit(const QuotaLimits& to, Clock clock) {
  limits = to;
  return follow(clock);
}

bool Balance::follow(Clock clock) {
  if (clock == nullptr) return false;
  const Usage seen = counted();
  const bool bytes = follow_one(limits.soft_bytes, seen.bytes, since.bytes, clock);
  const bool files = follow_one(limits.soft_files, files_of(seen), since.files, clock);
  return bytes || files;
}

}  // namespace stoa::core
