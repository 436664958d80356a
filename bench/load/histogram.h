// Latencies in logarithmic buckets of 1/64. A percentile is at most 1.6 % too high, and recording costs a few
// nanoseconds, so that the generator does not measure itself.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace stoa::bench {

class Histogram {
 public:
  void record(std::uint64_t ns) {
    ++buckets_[index_of(ns)];
    ++count_;
    sum_ += ns;
    max_ = std::max(max_, ns);
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }

  // The upper edge of the bucket that holds the given share (0..1) of all records; 0 when there are none.
  std::uint64_t percentile(double share) const {
    if (count_ == 0) return 0;
    const auto wanted = static_cast<std::uint64_t>(std::ceil(static_cast<double>(count_) * share));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      seen += buckets_[i];
      if (seen >= wanted && seen > 0) return std::min(upper_edge(i), max_);
    }
    return max_;
  }

 private:
  static constexpr unsigned kSubBits = 6;
  static constexpr std::size_t kSub = std::size_t{1} << kSubBits;

  static std::size_t index_of(std::uint64_t ns) {
    if (ns < kSub) return static_cast<std::size_t>(ns);
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kSubBits;
    return (static_cast<std::size_t>(shift + 1) << kSubBits) + static_cast<std::size_t>((ns >> shift) - kSub);
  }
  static std::uint64_t upper_edge(std::size_t index) {
    if (index < kSub) return index;
    const std::size_t shift = (index >> kSubBits) - 1;
    return ((static_cast<std::uint64_t>(index & (kSub - 1)) + kSub + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (64 - kSubBits + 1) * kSub> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace stoa::bench
