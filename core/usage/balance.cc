#include "core/usage/balance.h"

namespace stoa::core {
namespace {

// The clock starts when the limit is passed and ends when it is kept again.
bool follow_one(std::optional<std::uint64_t> soft, ByteCount used, Timestamp& since, Clock clock) {
  const bool over = soft && used > *soft;
  if (over == is_over(since)) return false;
  since = over ? clock() : Timestamp{};
  return true;
}

}  // namespace

std::uint64_t files_of(const Usage& usage) {
  const std::int64_t both = usage.files + usage.directories;
  return both > 0 ? static_cast<std::uint64_t>(both) : 0;
}
bool is_over(const Timestamp& since) { return since.ns != 0; }
Timestamp grace_end(const Timestamp& since, const QuotaLimits& limits) {
  return {since.ns + std::int64_t{limits.grace_s} * 1'000'000'000};
}

Status Balance::admit(const Usage& delta, Clock clock) const {
  const Usage after = used + delta;
  const auto refuses = [&](bool grows, const std::optional<std::uint64_t>& hard, ByteCount wanted, const Timestamp& over_since) {
    if (!grows) return false;
    if (hard && wanted > *hard) return true;
    return is_over(over_since) && clock() >= grace_end(over_since, limits);
  };
  if (refuses(delta.bytes > 0, limits.bytes, after.bytes, since.bytes) ||
      refuses(delta.files + delta.directories > 0, limits.files, files_of(after), since.files)) {
    return fail(Errc::kQuota);
  }
  return {};
}

bool Balance::add(const Usage& delta, Clock clock) {
  used = used + delta;
  return follow(clock);
}

bool Balance::limit(const QuotaLimits& to, Clock clock) {
  limits = to;
  return follow(clock);
}

void Books::count_owners(OwnersCounted to, Clock clock) {
  if (to == OwnersCounted::kYes && owners != nullptr) {
    owners->counted.reset();
    for (auto& [owner, balance] : owners->balances) (void)balance.limit(balance.limits, clock);
    return;
  }
  owners = to == OwnersCounted::kNo ? nullptr : std::make_unique<OwnerBooks>();
  if (to == OwnersCounted::kBeingCounted) owners->counted = std::make_shared<CountedFiles>();
}

bool Balance::follow(Clock clock) {
  const bool bytes = follow_one(limits.soft_bytes, used.bytes, since.bytes, clock);
  const bool files = follow_one(limits.soft_files, files_of(used), since.files, clock);
  return bytes || files;
}

}  // namespace stoa::core
