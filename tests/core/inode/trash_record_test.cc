#include "core/inode/trash_record.h"

#include <gtest/gtest.h>

namespace stoa::core {
namespace {

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

ItemRecord item() {
  return {.id = FileId{17},
          .type = FileType::kRegular,
          .name = "a@1f",
          .parent = FileId{18},
          .raw = "a",
          .base = FileId{19},
          .below = "b/",
          .uid = 1000,
          .protocol = Protocol::kS3,
          .client = "::1",
          .time = Timestamp{5},
          .bytes = 300};
}

TEST(TrashRecordTest, RecycleRootHasTheBytesOfVersion1) {
  const std::string bytes = RecycleRootRecord{FileId{0x1122}}.encode();
  EXPECT_EQ(hex(bytes),
            "010108000000"
            "2211000000000000");
  EXPECT_EQ(RecycleRootRecord::decode(bytes)->bin, FileId{0x1122});
}

TEST(TrashRecordTest, ItemHasTheBytesOfVersion1) {
  const std::string bytes = item().encode();
  EXPECT_EQ(hex(bytes),
            "010136000000"
            "1100000000000000"
            "01"
            "0461403166"
            "1200000000000000"
            "0161"
            "1300000000000000"
            "02622f"
            "e8030000"
            "04"
            "033a3a31"
            "0500000000000000"
            "ac02");
  const auto decoded = ItemRecord::decode(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->encode(), bytes);
  EXPECT_EQ(decoded->client, "::1");
  EXPECT_EQ(decoded->bytes, 300u);
}

TEST(TrashRecordTest, WhatIsCutIsDamaged) {
  const std::string bytes = item().encode();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ItemRecord::decode(bytes.substr(0, size))) << size;
  EXPECT_EQ(RecycleRootRecord::decode("").error().code, Errc::kCorrupt);
}

}  // namespace
}  // namespace stoa::core
