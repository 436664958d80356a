#include "frontends/native/data/read_pattern.h"

#include <algorithm>

namespace stoa::native::data {

std::vector<Range> ReadPattern::seen(std::uint64_t offset, std::uint64_t length) {
  const bool first = reads_ == 0;
  reads_ = std::min(reads_ + 1, 2);
  const std::int64_t step = static_cast<std::int64_t>(offset - last_);
  const std::uint64_t distance = offset > end_ ? offset - end_ : end_ - offset;
  const bool follows = first ? offset == 0 : distance <= std::max(kDisorder, length);
  last_ = offset;
  if (follows) {
    strides_ = 0;
    end_ = std::max(end_, offset + length);
    return first ? std::vector<Range>{} : sequential(end_);
  }
  window_ = 0;
  ahead_ = 0;
  end_ = offset + length;
  strides_ = !first && step == stride_ ? strides_ + 1 : 0;
  if (strides_ == 0) named_ = 0;
  stride_ = step;
  return strides_ >= kStridesSeen ? strided(offset, length) : std::vector<Range>{};
}

std::vector<Range> ReadPattern::sequential(std::uint64_t end) {
  window_ = window_ == 0 ? kWindowFirst : window_;
  ahead_ = std::max(ahead_, end);
  std::vector<Range> next;
  // Asked for in halves of the window, so that messages are large.
  if (ahead_ - end > window_ / 2) return next;
  window_ = std::min(window_ * 2, kWindowMost);
  while (ahead_ < end + window_) {
    const std::uint64_t piece = std::min(kPieceBytes, end + window_ - ahead_);
    next.push_back({ahead_, piece});
    ahead_ += piece;
  }
  return next;
}

std::vector<Range> ReadPattern::strided(std::uint64_t offset, std::uint64_t length) {
  std::vector<Range> next;
  if (length == 0 || length > kPieceBytes) return next;
  if (named_ > 0) --named_;
  if (named_ > static_cast<std::int64_t>(kStridesAhead / 2)) return next;
  for (; named_ < static_cast<std::int64_t>(kStridesAhead); ++named_) {
    const std::int64_t at = static_cast<std::int64_t>(offset) + (named_ + 1) * stride_;
    if (at < 0) break;
    next.push_back({static_cast<std::uint64_t>(at), length});
  }
  return next;
}

}  // namespace stoa::native::data
