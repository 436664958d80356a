#include "bench/load/histogram.h"

#include <gtest/gtest.h>

namespace stoa::bench {
namespace {

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t ns = 1; ns <= 10; ++ns) histogram.record(ns);
  EXPECT_EQ(histogram.percentile(0.5), 5U);
  EXPECT_EQ(histogram.percentile(1.0), 10U);
}

TEST(HistogramTest, PercentilesAreAtMostOneBucketTooHigh) {
  Histogram histogram;
  for (std::uint64_t ns = 1; ns <= 1'000'000; ++ns) histogram.record(ns);
  for (const double share : {0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = share * 1e6;
    EXPECT_GE(static_cast<double>(histogram.percentile(share)), exact);
    EXPECT_LE(static_cast<double>(histogram.percentile(share)), exact * (1 + 1.0 / 64) + 1);
  }
}

TEST(HistogramTest, TheLargestValueHasABucket) {
  Histogram histogram;
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.percentile(0.5), ~std::uint64_t{0});
}

TEST(HistogramTest, NothingRecordedIsZero) {
  EXPECT_EQ(Histogram().percentile(0.99), 0U);
  EXPECT_EQ(Histogram().mean(), 0.0);
}

}  // namespace
}  // namespace stoa::bench
