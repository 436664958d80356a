#include "core/usage/usage_record.h"

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

std::string bytes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return out;
}

// Stored bytes. A change here is a change of the format.
constexpr std::string_view kPlain =
    "01012c0000000500000000000000000000000000000002010001000300803a09000a00000000000000140000000000000000";
constexpr std::string_view kWhole =
    "0101890000000a000000000000000300000000000000140907050000000000008001000000000000000101020000000000000000000000"
    "000000000100040000000000000000000000000000000302670005053c0000000a0000000000000008000000000000000a02803a090009"
    "00000000000000030000000000000007000000000000000000000000000000ac02";
constexpr std::string_view kEnded = "01011e000000050000000000000000000000000000000201001800100000000000000000";

UsageRecord whole_record() {
  return {.usage = {2 * (3 * (ByteCount{1} << 63) + 5), 20, 9},
          .limits = {.bytes = 10,
                     .soft_bytes = 8,
                     .grace_s = 60,
                     .excluded = {UsageClass::kRecycled, UsageClass::kMultipart}},
          .since = {.bytes = {7}, .files = {}},
          .child_limits = {.files = 9, .soft_files = 3, .excluded = {UsageClass::kOrphans}},
          .owners = OwnersCounted::kBeingCounted,
          .by_class = {{UsageClass::kRecycled, {3 * (ByteCount{1} << 63) + 5, 1, 1}},
                       {UsageClass::kOrphans, {2, 1, 0}},
                       {UsageClass::kMultipart, {4, 3, 2}}},
          .height = 300};
}

TEST(UsageRecordTest, KeepsItsBytes) {
  const UsageRecord plain{.usage = {5, 2, 1}, .limits = {.bytes = 10, .files = 20}};
  const UsageRecord ended{.usage = {5, 2, 1}, .surviving_parent = FileId{16}, .upload = true};
  EXPECT_EQ(hex(plain.encode()), kPlain);
  EXPECT_EQ(hex(whole_record().encode()), kWhole);
  EXPECT_EQ(hex(ended.encode()), kEnded);
}

TEST(UsageRecordTest, SaysWhatWasWritten) {
  const UsageRecord whole = whole_record();
  const auto read = UsageRecord::decode(bytes(kWhole));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->usage, whole.usage);
  EXPECT_EQ(read->by_class, whole.by_class);
  EXPECT_EQ(read->limits, whole.limits);
  EXPECT_EQ(read->child_limits, whole.child_limits);
  EXPECT_EQ(read->since, whole.since);
  EXPECT_EQ(read->owners, OwnersCounted::kBeingCounted);
  EXPECT_EQ(read->height, 300u);
  EXPECT_EQ(read->surviving_parent, kNoFile);
  EXPECT_EQ(read->counted(whole.limits.excluded), (Usage{3 * (ByteCount{1} << 63) + 1, 16, 6}));
  const auto ended = UsageRecord::decode(bytes(kEnded));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->surviving_parent, FileId{16});
  EXPECT_TRUE(ended->upload);
  const UsageRecord of_children{.child_limits = {.excluded = {UsageClass::kMultipart}}};
  EXPECT_EQ(UsageRecord::decode(of_children.encode())->child_limits, of_children.child_limits);
}

TEST(UsageRecordTest, DamageIsAnError) {
  const std::string whole = whole_record().encode();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(UsageRecord::decode(std::string_view(whole).substr(0, size))) << size;
  }
  // No directory counts less than nothing, or more of its classes than in all.
  EXPECT_FALSE(UsageRecord::decode(UsageRecord{.usage = {-1, 0, 0}}.encode()));
  EXPECT_FALSE(UsageRecord::decode(UsageRecord{.usage = {0, -1, 0}}.encode()));
  EXPECT_FALSE(
      UsageRecord::decode(UsageRecord{.usage = {5, 1, 0}, .by_class = {{UsageClass::kRecycled, {6, 1, 0}}}}.encode()));
  EXPECT_FALSE(
      UsageRecord::decode(UsageRecord{.usage = {5, 1, 0}, .by_class = {{UsageClass::kOrphans, {-1, 0, 0}}}}.encode()));
}

}  // namespace
}  // namespace stoa::core
