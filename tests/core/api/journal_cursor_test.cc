#include "core/api/journal_cursor.h"

#include <gtest/gtest.h>

namespace stoa::core {
namespace {

TEST(JournalCursorTest, WhatWasGivenOutIsUnderstood) {
  for (const std::uint64_t sequence : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const auto read = decode_cursor(ShardId{3}, encode_cursor(ShardId{3}, sequence));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, sequence);
  }
}

TEST(JournalCursorTest, AnythingElseIsRefused) {
  const std::string good = encode_cursor(ShardId{3}, 300);
  EXPECT_FALSE(decode_cursor(ShardId{4}, good));
  for (const std::string& bad : {std::string(), std::string("300"), good + "0", " " + good, good.substr(1)}) {
    const auto read = decode_cursor(ShardId{3}, bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, Errc::kInvalid);
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char other : {'0', '1', 'f', 'F', '-', 'g', '\0'}) {
      std::string bad = good;
      bad[i] = other;
      if (bad != good) {
        EXPECT_FALSE(decode_cursor(ShardId{3}, bad)) << bad;
      }
    }
  }
}

}  // namespace
}  // namespace stoa::core
