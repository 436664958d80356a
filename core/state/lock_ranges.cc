#include "core/state/lock_ranges.h"

#include "base/assert.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};

using Held = LockRanges::Change::Held;

}  // namespace

LockRange range_of(const ByteSpan& span) {
  STOA_ASSERT(span.first <= span.last, "a lock has a byte");
  return {span.first, span.last == kEnd ? LockRange::kToEnd : span.last - span.first + 1};
}

Result<ByteSpan> span_of(const LockRange& range) {
  if (range.length == 0) return fail(Errc::kInvalid, "a lock of no bytes");
  if (range.length == LockRange::kToEnd) return ByteSpan{range.offset, kEnd};
  if (range.length - 1 > kEnd - range.offset) return fail(Errc::kInvalid, "a lock beyond 2^64-1");
  return ByteSpan{range.offset, range.offset + (range.length - 1)};
}

bool LockRanges::holds(HolderId holder) const {
  return std::ranges::any_of(owners_, [&](const Owner& o) { return o.owner.holder == holder; });
}

Modes LockRanges::modes_of_others(HolderId holder) const {
  Modes found = 0;
  for (const Owner& o : owners_) {
    if (o.owner.holder == holder) continue;
    for (const Held& held : o.locks) found |= mode_of_lock(held.exclusive);
  }
  return found;
}

std::optional<HeldLock> LockRanges::in_the_way(const LockOwner& owner, const ByteSpan& span, bool exclusive) const {
  const Modes bad = conflicts_with(mode_of_lock(exclusive));
  const Owner* whose = nullptr;
  const Held* first = nullptr;
  for (const Owner& o : owners_) {
    if (o.owner == owner) continue;
    const Held* const held = first_in_the_way(o, span, bad);
    if (held != nullptr && (first == nullptr || held->span.first < first->span.first)) {
      first = held;
      whose = &o;
    }
  }
  if (first == nullptr) return std::nullopt;
  return HeldLock{whose->owner, range_of(first->span), first->exclusive};
}

const Held* LockRanges::first_in_the_way(const Owner& other, const ByteSpan& span, Modes bad) {
  auto at = std::ranges::lower_bound(other.locks, span.first, {}, [](const Held& held) { return held.span.last; });
  for (; at != other.locks.end() && overlap(at->span, span); ++at) {
    if ((mode_of_lock(at->exclusive) & bad) != 0) return &*at;
  }
  return nullptr;
}

std::vector<LockOwner> LockRanges::owners_in_the_way(const LockOwner& owner, const ByteSpan& span,
                                                     bool exclusive) const {
  std::vector<LockOwner> found;
  for (const Owner& o : owners_) {
    if (o.owner != owner && first_in_the_way(o, span, conflicts_with(mode_of_lock(exclusive))) != nullptr)
      found.push_back(o.owner);
  }
  return found;
}

LockRanges::Change LockRanges::plan(const LockOwner& owner, const ByteSpan& span, std::optional<bool> exclusive) const {
  Change change;
  const auto mine = find(owner);
  static const std::vector<Held> kNone;
  const std::vector<Held>& locks = mine == owners_.end() ? kNone : mine->locks;
  // From the first lock that overlaps or touches to the last one; locks that only touch count when they are of the same
  // kind.
  const auto joins = [&](const Held& held) { return overlap(held.span, span) || held.exclusive == exclusive; };
  const std::uint64_t low = span.first == 0 ? 0 : span.first - 1;
  const std::uint64_t high = span.last == kEnd ? kEnd : span.last + 1;
  auto begin = std::ranges::lower_bound(locks, low, {}, [](const Held& held) { return held.span.last; });
  while (begin != locks.end() && begin->span.last < span.first && !joins(*begin)) ++begin;
  auto end = begin;
  while (end != locks.end() && end->span.first <= high && joins(*end)) ++end;
  change.begin = static_cast<std::size_t>(begin - locks.begin());
  change.end = static_cast<std::size_t>(end - locks.begin());

  Held wanted{span, exclusive.value_or(false)};
  std::optional<Held> before;
  std::optional<Held> after;
  for (auto at = begin; at != end; ++at) {
    if (at->exclusive == exclusive) {
      wanted.span.first = std::min(wanted.span.first, at->span.first);
      wanted.span.last = std::max(wanted.span.last, at->span.last);
      continue;
    }
    if (at->span.first < span.first) before = Held{{at->span.first, span.first - 1}, at->exclusive};
    if (at->span.last > span.last) after = Held{{span.last + 1, at->span.last}, at->exclusive};
  }
  if (before) change.become[change.count++] = *before;
  if (exclusive) change.become[change.count++] = wanted;
  if (after) change.become[change.count++] = *after;
  for (std::size_t i = 0; i < change.count; ++i) {
    const ByteSpan& one = change.become[i].span;
    STOA_ASSERT(one.first <= one.last, "a lock has a byte");
    STOA_ASSERT(i == 0 || change.become[i - 1].span.last < one.first, "an owner's locks do not overlap");
  }
  return change;
}

void LockRanges::apply(const LockOwner& owner, const Change& change) {
  auto mine = owners_.begin() + (find(owner) - owners_.begin());
  if (mine == owners_.end()) {
    if (change.count == 0) return;
    mine = owners_.insert(owners_.end(), {owner, {}});
  }
  std::vector<Held>& locks = mine->locks;
  STOA_ASSERT(change.begin <= change.end, "a change replaces locks from one to another");
  STOA_ASSERT(change.end <= locks.size(), "a change is of the locks that it was planned for");
  const auto at = [&](std::size_t i) { return locks.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::size_t replaced = std::min(change.count, change.end - change.begin);
  std::copy_n(change.become.begin(), replaced, at(change.begin));
  locks.erase(at(change.begin + replaced), at(change.end));
  locks.insert(at(change.begin + replaced), change.become.begin() + static_cast<std::ptrdiff_t>(replaced),
               change.become.begin() + static_cast<std::ptrdiff_t>(change.count));
  const std::size_t behind = change.begin + change.count;
  STOA_ASSERT(
      change.begin == 0 || behind == change.begin || locks[change.begin - 1].span.last < locks[change.begin].span.first,
      "an owner's locks are in order");
  STOA_ASSERT(behind == 0 || behind == locks.size() || locks[behind - 1].span.last < locks[behind].span.first,
              "an owner's locks are in order");
  if (locks.empty()) owners_.erase(mine);
}

template <class Gone>
std::size_t LockRanges::remove_if(Gone gone) {
  std::size_t count = 0;
  std::erase_if(owners_, [&](const Owner& o) {
    if (!gone(o.owner)) return false;
    count += o.locks.size();
    return true;
  });
  return count;
}

std::size_t LockRanges::remove(const LockOwner& owner) {
  return remove_if([&](const LockOwner& o) { return o == owner; });
}

std::size_t LockRanges::remove(HolderId holder) {
  return remove_if([&](const LockOwner& o) { return o.holder == holder; });
}

}  // namespace stoa::core
