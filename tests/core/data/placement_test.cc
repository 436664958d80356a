#include "core/data/placement.h"

#include <gtest/gtest.h>

#include "core/api/ids.h"
#include "tests/core/data/sizes.h"

namespace stoa::core {
namespace {

using test::kM;
using Rooms = std::vector<Room>;

TEST(Placement, SequentialWritesGetDoublingSlotsThenAnOwnFile) {
  EXPECT_EQ(rooms_for(0, 1, 0, kFileBytesMax), (Rooms{{0, 32768}}));
  EXPECT_EQ(rooms_for(32768, 1, 32768, kFileBytesMax), (Rooms{{32768, 32768}}));
  EXPECT_EQ(rooms_for(0, kM, 0, kFileBytesMax), (Rooms{{0, kM}}));
  EXPECT_EQ(rooms_for(kM, kM, kM, kFileBytesMax), (Rooms{{kM, kM}}));
  EXPECT_EQ(rooms_for(2 * kM, kM, 2 * kM, kFileBytesMax), (Rooms{{2 * kM, 2 * kM}}));
  EXPECT_EQ(rooms_for(4 * kM, kM, 4 * kM, kFileBytesMax), (Rooms{{4 * kM, 4 * kM}}));
  EXPECT_EQ(rooms_for(8 * kM, kM, 8 * kM, kFileBytesMax), (Rooms{{8 * kM, kOwnSegmentBytes - 8 * kM}}));
}

TEST(Placement, OneLargeWriteIsSplitIntoTheLargestSlots) {
  EXPECT_EQ(rooms_for(0, 16 * kM, 0, kFileBytesMax),
            (Rooms{{0, 4 * kM}, {4 * kM, 4 * kM}, {8 * kM, kOwnSegmentBytes - 8 * kM}}));
}

TEST(Placement, HugeOffsetsTakeOnlyTheirOwnSegment) {
  EXPECT_EQ(rooms_for(5 * kOwnSegmentBytes + 10, 1, 0, kFileBytesMax),
            (Rooms{{5 * kOwnSegmentBytes, kOwnSegmentBytes}}));
  const auto last = rooms_for(kFileBytesMax - 1, 1, 0, kFileBytesMax);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].file_offset + last[0].length, kFileBytesMax);
}

TEST(Placement, NeighboursLimitTheRoom) {
  EXPECT_EQ(rooms_for(40000, 10, 35000, 50000), (Rooms{{35000, 15000}}));
  EXPECT_EQ(rooms_for(kM, 1, kM, kM + 1), (Rooms{{kM, 1}}));
}

TEST(Placement, EveryHoleIsCovered) {
  for (std::uint64_t offset = 0; offset < 20 * kM; offset += 77'777) {
    for (const std::uint64_t length : {std::uint64_t{1}, std::uint64_t{65536}, 3 * kM, 16 * kM}) {
      const auto rooms = rooms_for(offset, length, 0, kFileBytesMax);
      ASSERT_FALSE(rooms.empty());
      EXPECT_LE(rooms.front().file_offset, offset);
      EXPECT_GE(rooms.back().file_offset + rooms.back().length, offset + length);
      for (std::size_t i = 1; i < rooms.size(); ++i) {
        EXPECT_EQ(rooms[i - 1].file_offset + rooms[i - 1].length, rooms[i].file_offset);
      }
    }
  }
}

}  // namespace
}  // namespace stoa::core
