#include "core/data/block_sums.h"

#include <gtest/gtest.h>

#include "backends/kv/memory/memory_kv.h"
#include "base/crc32c.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {

TEST(BlockSums, PiecesOfAnySizeGiveTheSameSums) {
  std::vector<std::byte> bytes(3 * kSumBlockBytes + 100);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 >> 3);
  BlockSummer whole;
  whole.add(bytes);
  const BlobSums sums = whole.finish(BlobId{1});
  ASSERT_EQ(sums.blocks.size(), 4u);
  EXPECT_EQ(sums.blocks[3], crc32c(std::span(bytes).subspan(3 * kSumBlockBytes)));
  for (const std::size_t step : {1u, 100u, 65535u, 65536u, 70000u}) {
    BlockSummer parts;
    for (std::size_t at = 0; at < bytes.size(); at += step)
      parts.add(std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
    EXPECT_EQ(parts.finish(BlobId{1}).blocks, sums.blocks);
  }
}

TEST(BlockSums, RowsComeBackAndGo) {
  kv::MemoryKv kv;
  BlobSums sums{BlobId{5}, kSumRowBytes + 10, std::vector<std::uint32_t>(65, 7)};
  RecordChanges changes;
  stage_sums(changes, sums);
  const WriteBatch* batches[] = {&changes.batch()};
  ASSERT_TRUE(kv.apply(batches));
  const auto first = load_sum_row(kv, BlobId{5}, 0);
  const auto second = load_sum_row(kv, BlobId{5}, 1);
  ASSERT_TRUE(first && *first && second && *second);
  EXPECT_EQ((*first)->bytes, kSumRowBytes);
  EXPECT_EQ((*second)->bytes, 10u);
  EXPECT_EQ((*second)->blocks(), 1u);
  RecordChanges removal;
  ASSERT_TRUE(stage_no_sums(kv, removal, BlobId{5}));
  EXPECT_EQ(removal.batch().ops().size(), 2u);
}

TEST(BlockSums, GoldenBytesOfVersion1) {
  SumRow row{.bytes = 65537, .known = 3};
  row.sums[0] = 0x01020304;
  row.sums[1] = 0xa0b0c0d0;
  std::string expected = {'\x01', '\x01', '\x0d', '\0',   '\0',   '\0',   '\x81', '\x80', '\x04', '\x02',
                          '\x01', '\x04', '\x03', '\x02', '\x01', '\xd0', '\xc0', '\xb0', '\xa0'};
  EXPECT_EQ(row.encode(), expected);
  const auto decoded = SumRow::decode(expected);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, row);
  EXPECT_EQ(SumRow::decode(expected.substr(0, 18)).error().code, Errc::kCorrupt);
  expected[6] = '\x0a';  // this many bytes have no two blocks
  expected[7] = '\0';
  EXPECT_EQ(SumRow::decode(expected).error().code, Errc::kCorrupt);
}

TEST(BlockSums, GoldenBytesOfARowWithUnknownBlocks) {
  SumRow row{.bytes = 65537, .known = 2};
  row.sums[1] = 0xa0b0c0d0;
  const std::string expected = {'\x01', '\x01', '\x11', '\0', '\0', '\0', '\x81', '\x80', '\x04', '\x02', '\0',  '\x02',
                                '\0',   '\0',   '\0',   '\0', '\0', '\0', '\0',   '\xd0', '\xc0', '\xb0', '\xa0'};
  EXPECT_EQ(row.encode(), expected);
  const auto decoded = SumRow::decode(expected);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, row);
  for (std::size_t size = 0; size < expected.size(); ++size) EXPECT_FALSE(SumRow::decode(expected.substr(0, size)));
  std::string beyond = expected;
  beyond[11] = '\x04';  // a block that the row does not have
  EXPECT_EQ(SumRow::decode(beyond).error().code, Errc::kCorrupt);
  std::string neither = expected;
  neither[10] = '\x02';  // neither with a bitmap nor without
  EXPECT_EQ(SumRow::decode(neither).error().code, Errc::kCorrupt);
}

TEST(BlockSums, WhatLiesBehindACutIsCoveredNoMore) {
  kv::MemoryKv kv;
  RecordChanges changes;
  stage_sums(changes, {BlobId{5}, 2 * kSumRowBytes, std::vector<std::uint32_t>(128, 7)});
  const WriteBatch* batches[] = {&changes.batch()};
  ASSERT_TRUE(kv.apply(batches));
  RecordChanges cut;
  ASSERT_TRUE(stage_cut_sums(kv, cut, BlobId{5}, kSumBlockBytes + 10));
  batches[0] = &cut.batch();
  ASSERT_TRUE(kv.apply(batches));
  const auto first = load_sum_row(kv, BlobId{5}, 0);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->bytes, kSumBlockBytes + 10);
  EXPECT_EQ((*first)->known, 1u);
  EXPECT_FALSE(*load_sum_row(kv, BlobId{5}, 1));
  RecordChanges none;
  ASSERT_TRUE(stage_cut_sums(kv, none, BlobId{5}, kSumRowBytes));
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace stoa::core
