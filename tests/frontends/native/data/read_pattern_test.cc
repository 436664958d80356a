#include "frontends/native/data/read_pattern.h"

#include <gtest/gtest.h>

#include <random>

namespace stoa::native::data {
namespace {

constexpr std::uint64_t kRead = 128 * 1024;

TEST(ReadPattern, SequentialReadsAreFollowedWithoutGapsAndTheWindowGrows) {
  ReadPattern pattern;
  std::uint64_t ahead = 0, most = 0;
  for (std::uint64_t at = 0; at < 64 * 1024 * 1024; at += kRead) {
    for (const Range range : pattern.seen(at, kRead)) {
      if (ahead == 0) ahead = range.offset;
      ASSERT_EQ(range.offset, ahead);
      ASSERT_LE(range.length, ReadPattern::kPieceBytes);
      ahead += range.length;
    }
    most = std::max(most, ahead - std::min(ahead, at + kRead));
    if (at > 0) {
      ASSERT_GE(ahead, at + kRead) << "the reader has caught up";
    }
  }
  EXPECT_EQ(most, ReadPattern::kWindowMost);
}

TEST(ReadPattern, TheFirstReadOfAFileNamesNothing) {
  ReadPattern pattern;
  EXPECT_TRUE(pattern.seen(0, 4096).empty());
  ReadPattern middle;
  EXPECT_TRUE(middle.seen(5'000'000, 4096).empty());
}

TEST(ReadPattern, OverlappingWindowsAreSequential) {
  ReadPattern pattern;
  std::size_t named = 0;
  for (std::uint64_t at = 0; at < 40 * 500'000; at += 500'000) named += pattern.seen(at, 1'000'000).size();
  EXPECT_GT(named, 10u);
}

TEST(ReadPattern, StridesForwardsAndBackwardsNameEachRangeOnce) {
  for (const std::int64_t stride : {std::int64_t{3'000'000}, std::int64_t{-3'000'000}}) {
    ReadPattern pattern;
    std::vector<std::uint64_t> named;
    std::int64_t at = 300'000'000;
    for (int i = 0; i < 50; ++i, at += stride) {
      for (const Range range : pattern.seen(static_cast<std::uint64_t>(at), 4096)) {
        EXPECT_EQ(range.length, 4096u);
        named.push_back(range.offset);
      }
    }
    ASSERT_GT(named.size(), 40u);
    for (std::size_t i = 1; i < named.size(); ++i) {
      ASSERT_EQ(static_cast<std::int64_t>(named[i] - named[i - 1]), stride);
    }
  }
}

TEST(ReadPattern, RandomReadsNameNothing) {
  ReadPattern pattern;
  std::mt19937_64 random(1);
  std::size_t named = 0;
  for (int i = 0; i < 1000; ++i) named += pattern.seen(random() % (std::uint64_t{1} << 40), 4096).size();
  EXPECT_EQ(named, 0u);
}

}  // namespace
}  // namespace stoa::native::data
