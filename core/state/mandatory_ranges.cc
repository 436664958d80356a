#include "core/state/mandatory_ranges.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kLastByte = ~std::uint64_t{0};

std::uint64_t last_of(const LockRange& range) {
  return range.length == LockRange::kToEnd ? kLastByte : range.offset + range.length - 1;
}

// {0, 0} overlaps nothing; any other range of no bytes ends before it begins.
bool overlap(const LockRange& a, const LockRange& b) {
  constexpr LockRange kNowhere{0, 0};
  if (a == kNowhere || b == kNowhere) return false;
  return a.offset <= last_of(b) && last_of(a) >= b.offset;
}

}  // namespace

Status check_mandatory_range(const LockRange& range) {
  if (range.length == 0 || range.length == LockRange::kToEnd || range.length - 1 <= kLastByte - range.offset) return {};
  return fail(Errc::kInvalid, "a lock beyond 2^64-1");
}

Modes MandatoryRanges::modes_of_others(const LeaseOwner& owner) const {
  Modes found = 0;
  for (const MandatoryLock& lock : locks_) {
    if (lock.owner != owner) found |= modes_of_mandatory_lock(lock.exclusive);
  }
  return found;
}

const MandatoryLock* MandatoryRanges::in_the_way(OpenId open, const LockRange& range, bool exclusive) const {
  const Modes bad = conflicts_with(mode_of_lock(exclusive));
  for (const MandatoryLock& lock : locks_) {
    if ((mode_of_lock(lock.exclusive) & bad) == 0 || !overlap(lock.range, range)) continue;
    if (lock.open != open || exclusive) return &lock;
  }
  return nullptr;
}

const MandatoryLock* MandatoryRanges::in_the_way_of_io(OpenId open, const LockRange& range, Modes access) const {
  for (const MandatoryLock& lock : locks_) {
    if ((modes_of_mandatory_lock(lock.exclusive) & conflicts_with(access)) == 0 || !overlap(lock.range, range))
      continue;
    if (lock.open != open || !lock.exclusive) return &lock;
  }
  return nullptr;
}

bool MandatoryRanges::remove(OpenId open, const LockRange& range) {
  const auto at =
      std::ranges::find_if(locks_, [&](const MandatoryLock& lock) { return lock.open == open && lock.range == range; });
  if (at == locks_.end()) return false;
  locks_.erase(at);
  return true;
}

std::size_t MandatoryRanges::remove(OpenId open) {
  return std::erase_if(locks_, [&](const MandatoryLock& lock) { return lock.open == open; });
}

}  // namespace stoa::core
