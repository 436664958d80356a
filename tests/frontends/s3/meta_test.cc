#include <gtest/gtest.h>

#include "frontends/s3/meta/fields.h"
#include "frontends/s3/meta/upload_record.h"

namespace stoa::s3 {
namespace {

ObjectRecord full() {
  ObjectRecord record{.etag_parts = 3,
                      .content_type = "text/plain",
                      .content_encoding = "gzip",
                      .content_disposition = "inline",
                      .content_language = "en",
                      .cache_control = "no-cache",
                      .expires = "0",
                      .user = {{"a", "1"}, {"b", ""}},
                      .checksum = Checksum{Algorithm::kCrc32, ChecksumType::kComposite, "abcd", 3},
                      .parts = {{2, 5 << 20}, {1, 7}}};
  for (std::size_t i = 0; i < record.md5.size(); ++i) record.md5[i] = static_cast<std::uint8_t>(i);
  return record;
}

std::string hex(std::string_view text) {
  return to_hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

// Stored bytes: these must be readable for ever.
TEST(ObjectRecordTest, GoldenBytesOfVersion1) {
  EXPECT_EQ(hex(full().encode()),
            "01015b000000"
            "0110000102030405060708090a0b0c0d0e0f"
            "020103"
            "030a746578742f706c61696e"
            "0404677a6970"
            "0506696e6c696e65"
            "0602656e"
            "07086e6f2d6361636865"
            "080130"
            "0903016131"
            "09020162"
            "0a0701020361626364"
            "0b07028080c0020107");
}

TEST(ObjectRecordTest, GoldenBytesOfFieldsThatCameLater) {
  const ObjectRecord record{.part_checksums = "abcdefgh", .upload = "00000001-u"};
  EXPECT_EQ(hex(record.encode()),
            "010128000000"
            "011000000000000000000000000000000000"
            "0c086162636465666768"
            "0d0a30303030303030312d75");
  EXPECT_EQ(ObjectRecord::decode(record.encode()), record);
}

TEST(ObjectRecordTest, KnowsTheChecksumsOfItsParts) {
  ObjectRecord record = full();
  EXPECT_FALSE(record.part_checksum(0)) << "none are kept";
  record.part_checksums = "aaaabbbbcccc";
  EXPECT_EQ(record.part_checksum(1)->value, "bbbb");
  EXPECT_EQ(record.part_checksum(2)->value, "cccc");
  EXPECT_FALSE(record.part_checksum(3));
  record.part_checksums = "aaaabbbb";
  EXPECT_FALSE(record.part_checksum(0)) << "not as many as parts";
}

TEST(ObjectRecordTest, ComesBackAsItWas) {
  EXPECT_EQ(ObjectRecord::decode(full().encode()), full());
  EXPECT_EQ(ObjectRecord::decode(ObjectRecord{}.encode()), ObjectRecord{});
  EXPECT_EQ(full().etag(), "000102030405060708090a0b0c0d0e0f-3");
  EXPECT_EQ(full().part_count(), 3u);
}

TEST(ObjectRecordTest, RefusesEveryTruncationAndANewerReader) {
  const std::string good = full().encode();
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(ObjectRecord::decode(good.substr(0, size))) << size;
  std::string newer = good;
  newer[0] = 2;
  EXPECT_TRUE(ObjectRecord::decode(newer)) << "a newer version that this reader may read";
  newer[1] = 2;
  EXPECT_FALSE(ObjectRecord::decode(newer));
}

TEST(ObjectRecordTest, DescribesOnlyTheContentThatItWasWrittenFor) {
  core::Attributes attr{.id = core::FileId{17}, .data_version = 5};
  const core::ObjectMeta meta{.bytes = full().encode(), .described = attr.version()};
  EXPECT_TRUE(current_record(attr, meta));
  attr.data_version = 6;
  EXPECT_FALSE(current_record(attr, meta));
  EXPECT_EQ(etag_of(attr, std::nullopt), "00000000000000110000000000000006-0");
  EXPECT_FALSE(current_record(attr, std::nullopt));
}

TEST(UploadRecordTest, ComesBackAsItWas) {
  const UploadRecord record{.key = "a/../b",
                            .owner = "ann",
                            .owner_uid = 7,
                            .object = full(),
                            .algorithm = Algorithm::kSha256,
                            .type = ChecksumType::kComposite};
  const std::string bytes = record.encode();
  EXPECT_EQ(UploadRecord::decode(bytes), record);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(UploadRecord::decode(bytes.substr(0, size)));
}

// Stored fields of one record.
std::string record_of(const std::vector<std::pair<std::uint8_t, std::string>>& fields) {
  FieldWriter out(1, 1);
  for (const auto& [tag, value] : fields) out.bytes(tag, value);
  return out.finish();
}

TEST(UploadRecordTest, RefusesHalfOfAChecksumsDescription) {
  const std::string key = "k";
  const std::pair<std::uint8_t, std::string> algorithm{5, std::string(1, '\2')};
  const std::pair<std::uint8_t, std::string> type{6, std::string(1, '\1')};
  EXPECT_TRUE(UploadRecord::decode(record_of({{1, key}, algorithm, type})));
  EXPECT_FALSE(UploadRecord::decode(record_of({{1, key}, algorithm})));
  EXPECT_FALSE(UploadRecord::decode(record_of({{1, key}, type})));
}

TEST(ObjectRecordTest, LimitsThePartsOfAllFieldsTogether) {
  std::string run;
  FieldWriter::append_varint(run, core::kConcatenatePartsMax / 2 + 1);
  FieldWriter::append_varint(run, 7);
  const std::string md5(16, 'm');
  const auto once = ObjectRecord::decode(record_of({{1, md5}, {11, run}}));
  ASSERT_TRUE(once);
  EXPECT_EQ(once->part_count(), core::kConcatenatePartsMax / 2 + 1);
  EXPECT_FALSE(ObjectRecord::decode(record_of({{1, md5}, {11, run}, {11, run}})));
}

}  // namespace
}  // namespace stoa::s3
