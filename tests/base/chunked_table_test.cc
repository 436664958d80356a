#include "base/chunked_table.h"

#include <gtest/gtest.h>

namespace stoa {
namespace {

TEST(ChunkedTableTest, HasChunksWhereItWasUsed) {
  ChunkedTable<int> table(ChunkedTable<int>::kChunkSlots + 1);
  EXPECT_EQ(table.size(), ChunkedTable<int>::kChunkSlots + 1);
  EXPECT_EQ(table.find(0), nullptr);
  table.at(1) = 7;
  ASSERT_NE(table.find(1), nullptr);
  EXPECT_EQ(*table.find(1), 7);
  ASSERT_NE(table.find(ChunkedTable<int>::kChunkSlots - 1), nullptr);
  EXPECT_EQ(*table.find(ChunkedTable<int>::kChunkSlots - 1), 0);
  EXPECT_EQ(table.find(ChunkedTable<int>::kChunkSlots), nullptr);
  table.at(ChunkedTable<int>::kChunkSlots) = 9;
  EXPECT_EQ(*table.find(ChunkedTable<int>::kChunkSlots), 9);
  EXPECT_EQ(*table.find(1), 7);
}

TEST(ChunkedTableTest, SlotsOfOneChunkAreTold) {
  EXPECT_EQ(ChunkedTable<int>::chunk_of(0), ChunkedTable<int>::chunk_of(ChunkedTable<int>::kChunkSlots - 1));
  EXPECT_NE(ChunkedTable<int>::chunk_of(0), ChunkedTable<int>::chunk_of(ChunkedTable<int>::kChunkSlots));
}

}  // namespace
}  // namespace stoa
