#include "frontends/native/data/read_blocks.h"

#include <gtest/gtest.h>

namespace stoa::native::data {
namespace {

std::shared_ptr<Block> filled(ReadBlocks& blocks, Range range, std::atomic<std::uint64_t>& all, std::size_t valid) {
  const auto block = blocks.begin(range, 1, all).at(0);
  block->arrived(make_large_array(range.length), valid);
  return block;
}

TEST(ReadBlocks, FillsOnlyWhatHasNoBlock) {
  std::atomic<std::uint64_t> all{0};
  ReadBlocks blocks;
  ASSERT_EQ(blocks.begin({100, 50}, 1, all).size(), 1u);
  const auto made = blocks.begin({0, 200}, 1, all);
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0]->offset, 0u);
  EXPECT_EQ(made[0]->length, 100u);
  EXPECT_EQ(made[1]->offset, 150u);
  EXPECT_EQ(made[1]->length, 50u);
  EXPECT_EQ(all, 200u);
  EXPECT_TRUE(blocks.begin({0, 200}, 1, all).empty());
}

TEST(ReadBlocks, GivesItsBytesBack) {
  std::atomic<std::uint64_t> all{0};
  ReadBlocks blocks;
  (void)blocks.begin({0, 4096}, 1, all);
  blocks.clear();
  EXPECT_EQ(all, 0u);
}

TEST(ReadBlocks, FindsBytesAndGaps) {
  std::atomic<std::uint64_t> all{0};
  ReadBlocks blocks;
  const auto block = filled(blocks, {100, 50}, all, 50);
  std::uint64_t gap = 0;
  EXPECT_EQ(blocks.find(100, 1, &gap), block);
  EXPECT_EQ(blocks.find(149, 10, &gap), block);
  EXPECT_EQ(blocks.find(150, 10, &gap), nullptr);
  EXPECT_EQ(gap, 10u);
  EXPECT_EQ(blocks.find(90, 100, &gap), nullptr);
  EXPECT_EQ(gap, 10u);
}

TEST(ReadBlocks, AChangeForgetsWhatItTouchesAndWhatSaysWhereTheFileEnds) {
  std::atomic<std::uint64_t> all{0};
  ReadBlocks blocks;
  const auto before = filled(blocks, {0, 100}, all, 100);
  const auto touched = filled(blocks, {100, 100}, all, 100);
  const auto behind = filled(blocks, {200, 100}, all, 100);
  const auto last = filled(blocks, {300, 100}, all, 40);
  blocks.spoil(199, 1);
  EXPECT_TRUE(blocks.has(before));
  EXPECT_FALSE(blocks.has(touched));
  EXPECT_TRUE(blocks.has(behind));
  EXPECT_FALSE(blocks.has(last));
}

}  // namespace
}  // namespace stoa::native::data
