#include "frontends/native/data/directory_reads.h"

#include <algorithm>

namespace stoa::native::data {

bool DirectoryReads::seen(std::uint64_t size, bool was_ahead) {
  const std::lock_guard lock(mutex_);
  ++reads_;
  read_cost_ += cost(size);
  misses_ = was_ahead ? 0 : misses_ + 1;
  earn(was_ahead ? std::max(kReadEarns, 2 * cost(size)) : kReadEarns);
  if (at_work_ || !is_due()) return false;
  at_work_ = true;
  return true;
}

void DirectoryReads::earn(std::uint64_t cost) {
  earned_ = std::min(earned_ + static_cast<std::int64_t>(cost), static_cast<std::int64_t>(kEarnedMost));
}

// The more is ahead, the larger the pieces.
bool DirectoryReads::is_due() const {
  return earned_ >= static_cast<std::int64_t>(std::clamp(unread_ / 4, kPieceLeast, kPieceMost));
}

bool DirectoryReads::is_small(std::size_t entries, std::uint64_t small) const {
  const std::lock_guard lock(mutex_);
  return entries <= small / mean();
}

std::uint64_t DirectoryReads::may_take(std::size_t entries, std::uint64_t small) const {
  const std::lock_guard lock(mutex_);
  if (!is_due()) return 0;
  if (entries > small / mean() && unread_ >= kWindowMost) return 0;
  return std::min(static_cast<std::uint64_t>(earned_), kPieceMost);
}

void DirectoryReads::found_nothing() {
  const std::lock_guard lock(mutex_);
  earned_ = std::min<std::int64_t>(earned_, 0);
}

void DirectoryReads::end() {
  const std::lock_guard lock(mutex_);
  at_work_ = false;
}

void DirectoryReads::taken(std::uint64_t cost) {
  const std::lock_guard lock(mutex_);
  earned_ -= static_cast<std::int64_t>(cost);
  unread_ += cost;
}

void DirectoryReads::used(std::uint64_t cost) {
  const std::lock_guard lock(mutex_);
  unread_ -= cost;
}

void DirectoryReads::wasted(std::uint64_t cost) {
  const std::lock_guard lock(mutex_);
  unread_ -= cost;
  earned_ = std::max(earned_ - static_cast<std::int64_t>(cost), -static_cast<std::int64_t>(kEarnedMost));
}

bool DirectoryReads::is_lost() const {
  const std::lock_guard lock(mutex_);
  return misses_ >= kMissesLost;
}

std::uint64_t DirectoryReads::mean_cost() const {
  const std::lock_guard lock(mutex_);
  return mean();
}

}  // namespace stoa::native::data
