// Stored records: what was written comes back, damage is noticed, and the bytes stay what they are.
#include <gtest/gtest.h>

#include "core/blob/blob_record.h"
#include "core/inode/entry.h"
#include "core/inode/inode.h"
#include "core/journal/note.h"
#include "core/usage/usage_record.h"
#include "core/volume/volume_record.h"

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

Inode sample() {
  Inode inode;
  inode.id = FileId{17};
  inode.generation = 0x01020304;
  inode.type = FileType::kRegular;
  inode.flags = kHasXattrs | 0x80000000;
  inode.mode = 0640;
  inode.links = 2;
  inode.uid = 1000;
  inode.gid = 100;
  inode.size = 1'000'000;
  inode.allocated = 1'003'520;
  inode.atime = {1};
  inode.mtime = {2};
  inode.ctime = {3};
  inode.btime = {-4};
  inode.change = 9;
  inode.data_version = 300;
  inode.create_verifier = 0xfeed;
  inode.home = FileId{16};
  inode.attribute_bytes = 300;
  inode.dos = kDosHidden | kDosArchive | kDosNotIndexed;
  inode.birth_epoch = 5;
  inode.layout.extents = {{0, 1'000'000, BlobId{0x1122}, 64, true, 6}};
  return inode;
}

constexpr std::string_view kInodeV1 =
    "010165000000040302010104000080a001000002e807640000c0843d80a03d0100000000000000020000000000000003000000000000"
    "00fcffffffffffffff09ac02edfe0000000000001000000000000000030000ac02a24005000100c0843d2211000000000000400106";
constexpr std::string_view kVolumeV1 =
    "01012a00000053544f41564f4c314d000000000000000176050000000000000001000000000000000200000000000000";
constexpr std::string_view kEntryV1 = "01010c00000011000000000000000201f403";
constexpr std::string_view kCookieV1 = "01010f00000011000000000000000300046e616d65";
constexpr std::string_view kUsageV1 =
    "010129000000050000000000000002000000000000000100000000000000030a000000000000001400000000000000";
constexpr std::string_view kUsageV3 =
    "030354000000050000000000000002000000000000000100000000000000010a000000000000000f043c000000080000000000000007000000"
    "0000000000"
    "000000000000000a803a090009000000000000000300000000000000";
constexpr std::string_view kUsageV4 =
    "04042200000005000000000000800200000000000000010000000000000000100100000000000000";
constexpr std::string_view kUsageV5 = "05051a0000000500000000000000020000000000000001000000000000000028";
constexpr std::string_view kUsageV8 = "08031c0000000500000000000000020000000000000001000000000000000000ac02";
constexpr std::string_view kUsageV6 =
    "060663000000050000000000000002000000000000000100000000000000010a00000000000000402705000000000000800100000000000000"
    "010000000000"
    "000001000000000000000200000000000000000000000000000001000000000000000000000000000000";
constexpr std::string_view kUsageV7 =
    "07078c000000050000000000000002000000000000000100000000000000050a000000000000001000000000000000c0270500000000000080"
    "0100000000"
    "0000000100000000000000010000000000000002000000000000000000000000000000010000000000000000000000000000000b0400000000"
    "0000000000"
    "00000000000003000000000000000200000000000000";
constexpr std::string_view kUsageV2 = "020221000000050000000000000002000000000000000100000000000000041000000000000000";
constexpr std::string_view kBlobV1 = "010102000000ac02";

TEST(RecordsTest, InodeKeepsItsBytes) {
  EXPECT_EQ(hex(sample().encode()), kInodeV1);
  const auto inode = Inode::decode(FileId{17}, bytes(kInodeV1));
  ASSERT_TRUE(inode);
  EXPECT_EQ(inode->encode(), sample().encode());
  EXPECT_EQ(inode->layout, sample().layout);
  EXPECT_EQ(inode->btime.ns, -4);
  EXPECT_EQ(inode->home, FileId{16});
  EXPECT_EQ(inode->attribute_bytes, 300u);
  EXPECT_EQ(inode->dos, sample().dos);
  EXPECT_EQ(inode->flags, sample().flags);
}

// The directory of a multipart upload; and one that stands in for a directory of another shard.
TEST(RecordsTest, WhatOnlyDirectoriesHaveComesBack) {
  Inode dir = sample();
  dir.type = FileType::kDirectory;
  dir.layout = {};
  dir.charged_to = FileId{18};
  dir.target = FileId{19};
  const auto read = Inode::decode(FileId{17}, dir.encode());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->charged_to, FileId{18});
  EXPECT_EQ(read->target, FileId{19});
  EXPECT_EQ(read->encode(), dir.encode());
}

TEST(RecordsTest, DosAttributesThatDoNotExistAreDamage) {
  std::string stored = sample().encode();
  const std::size_t at = stored.find("\xa2\x40");  // kDosHidden | kDosArchive | kDosNotIndexed
  ASSERT_NE(at, std::string::npos);
  stored[at] = '\xb2';
  EXPECT_EQ(Inode::decode(FileId{17}, stored).error().code, Errc::kCorrupt);
}

TEST(RecordsTest, EntryAndCookieKeepTheirBytes) {
  const EntryRecord entry{.id = FileId{17}, .type = FileType::kDirectory, .flags = kShadowed, .cookie = 500};
  EXPECT_EQ(hex(entry.encode()), kEntryV1);
  EXPECT_EQ(EntryRecord::decode(bytes(kEntryV1)).value(), entry);
  const CookieRecord cookie{FileId{17}, FileType::kSymlink, 0, "name"};
  EXPECT_EQ(hex(cookie.encode()), kCookieV1);
  const auto again = CookieRecord::decode(bytes(kCookieV1));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->name, "name");
  EXPECT_EQ(again->type, FileType::kSymlink);
}

TEST(RecordsTest, UsageBlobAndVolumeKeepTheirBytes) {
  const UsageRecord usage{{5, 2, 1}, {.bytes = 10, .files = 20}};
  EXPECT_EQ(hex(usage.encode()), kUsageV1);
  const auto again = UsageRecord::decode(bytes(kUsageV1));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->usage, usage.usage);
  EXPECT_EQ(again->limits, usage.limits);
  EXPECT_EQ(again->heir, kNoFile);
  // 02: the account of a directory that is gone. Readers that do not know of those must not take it for a live one's.
  const UsageRecord ended{{5, 2, 1}, {}, FileId{16}};
  EXPECT_EQ(hex(ended.encode()), kUsageV2);
  EXPECT_EQ(UsageRecord::decode(bytes(kUsageV2))->heir, FileId{16});
  // 03: soft limits, limits of new children, owners.
  const UsageRecord soft{.usage = {5, 2, 1},
                         .limits = {.bytes = 10, .soft_bytes = 8, .grace_s = 60},
                         .since = {.bytes = {7}, .files = {}},
                         .child_limits = {.files = 9, .soft_files = 3},
                         .owners = OwnersCounted::kYes};
  EXPECT_EQ(hex(soft.encode()), kUsageV3);
  const auto third = UsageRecord::decode(bytes(kUsageV3));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->usage, soft.usage);
  EXPECT_EQ(third->limits, soft.limits);
  EXPECT_EQ(third->since, soft.since);
  EXPECT_EQ(third->child_limits, soft.child_limits);
  EXPECT_EQ(third->owners, OwnersCounted::kYes);
  // 04: more bytes than 63 bits count.
  const UsageRecord large{{3 * (ByteCount{1} << 63) + 5, 2, 1}};
  EXPECT_EQ(hex(large.encode()), kUsageV4);
  const auto fourth = UsageRecord::decode(bytes(kUsageV4));
  ASSERT_TRUE(fourth);
  EXPECT_EQ(fourth->usage, large.usage);
  // 05: owners that are not wholly counted yet. Who does not know of that must not take them for counted.
  const UsageRecord counting{.usage = {5, 2, 1}, .owners = OwnersCounted::kBeingCounted};
  EXPECT_EQ(hex(counting.encode()), kUsageV5);
  EXPECT_EQ(UsageRecord::decode(bytes(kUsageV5))->owners, OwnersCounted::kBeingCounted);
  // 06: classes. Readers that do not know of those would let a quota see what it is not to see.
  const UsageRecord classes{.usage = {5, 2, 1},
                            .limits = {.bytes = 10, .excluded = {.recycled = true}},
                            .child_limits = {.excluded = {.nameless = true}},
                            .by_class = {.recycled = {3 * (ByteCount{1} << 63) + 5, 1, 1}, .nameless = {2, 1, 0}}};
  EXPECT_EQ(hex(classes.encode()), kUsageV6);
  const auto sixth = UsageRecord::decode(bytes(kUsageV6));
  ASSERT_TRUE(sixth);
  EXPECT_EQ(sixth->usage, classes.usage);
  EXPECT_EQ(sixth->by_class, classes.by_class);
  EXPECT_EQ(sixth->limits, classes.limits);
  EXPECT_EQ(sixth->child_limits, classes.child_limits);
  EXPECT_EQ(sixth->counted(classes.limits.excluded), (Usage{-3 * (ByteCount{1} << 63), 1, 0}));
  // 08: height, which older readers pass over.
  const UsageRecord high{.usage = {5, 2, 1}, .height = 300};
  EXPECT_EQ(hex(high.encode()), kUsageV8);
  EXPECT_EQ(UsageRecord::decode(bytes(kUsageV8))->height, 300u);
  // 07: multipart uploads.
  UsageRecord uploads = classes;
  uploads.limits.excluded.multipart = true;
  uploads.by_class.multipart = {4, 3, 2};
  uploads.heir = FileId{16};
  uploads.upload = true;
  EXPECT_EQ(hex(uploads.encode()), kUsageV7);
  const auto seventh = UsageRecord::decode(bytes(kUsageV7));
  ASSERT_TRUE(seventh);
  EXPECT_EQ(seventh->by_class, uploads.by_class);
  EXPECT_EQ(seventh->limits, uploads.limits);
  EXPECT_EQ(seventh->child_limits, uploads.child_limits);
  EXPECT_EQ(seventh->heir, FileId{16});
  EXPECT_TRUE(seventh->upload);
  EXPECT_EQ(UsageRecord::decode(bytes(kUsageV6))->by_class.multipart, Usage{});
  const UsageRecord of_children{.child_limits = {.excluded = {.multipart = true}}};
  EXPECT_EQ(UsageRecord::decode(of_children.encode())->child_limits, of_children.child_limits);
  for (const UsageRecord& record : {soft, large, counting, classes, uploads, of_children}) {
    const std::string whole = record.encode();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(UsageRecord::decode(std::string_view(whole).substr(0, size))) << size;
    }
  }
  EXPECT_EQ(hex(BlobRecord{300}.encode()), kBlobV1);
  EXPECT_EQ(BlobRecord::decode(bytes(kBlobV1))->references, 300);
  const VolumeRecord volume{{77, "v", {5}}, {1, 2}};
  EXPECT_EQ(hex(volume.encode()), kVolumeV1);
  const auto read = VolumeRecord::decode(bytes(kVolumeV1));
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->info.name, "v");
  EXPECT_EQ(read->handle_key, (SipKey{1, 2}));
}

TEST(RecordsTest, AVolumeOfAnotherVersionIsRefusedInClearWords) {
  // As the development versions before 0.1.0 wrote it: three versions, and no magic number.
  for (const char version : {'\1', '\2', '\3'}) {
    std::string early = bytes("0101220000004d000000000000000176050000000000000001000000000000000200000000000000");
    early[0] = early[1] = version;
    const auto refused = VolumeRecord::decode(early);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kNotSupported);
    for (const char* part : {"before 0.1.0", "cannot read it", "make a new volume", "copy the content"}) {
      EXPECT_NE(refused.error().detail.find(part), std::string::npos) << part;
    }
  }
  std::string newer = VolumeRecord{{77, "v", {5}}, {1, 2}}.encode();
  newer[0] = newer[1] = '\2';
  EXPECT_EQ(VolumeRecord::decode(newer).error().code, Errc::kNotSupported);
  EXPECT_NE(VolumeRecord::decode(newer).error().detail.find("newer version"), std::string::npos);
  const std::string whole = bytes(kVolumeV1);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(VolumeRecord::decode(std::string_view(whole).substr(0, size)).error().code, Errc::kCorrupt) << size;
  }
}

TEST(RecordsTest, EveryTruncationIsDamage) {
  const std::string whole = sample().encode();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(Inode::decode(FileId{17}, std::string_view(whole).substr(0, size)).error().code, Errc::kCorrupt) << size;
  }
}

TEST(RecordsTest, ALaterVersionThatOlderReadersMayReadIsRead) {
  // A later version appends a field, and says whether readers of version 1 may skip it.
  const std::string body = sample().encode().substr(6) + "new field";
  EXPECT_TRUE(Inode::decode(FileId{17}, seal(2, 1, body)));
  EXPECT_FALSE(Inode::decode(FileId{17}, seal(2, 2, body)));
}

TEST(RecordsTest, TimesNeverStandStillOrGoBack) {
  Inode inode = sample();
  inode.ctime = {1000};
  inode.touch({500});
  EXPECT_EQ(inode.ctime.ns, 1001);
  EXPECT_EQ(inode.change, 10u);
  inode.dos = 0;
  inode.touch_content({2000});
  EXPECT_EQ(inode.mtime.ns, 2000);
  EXPECT_EQ(inode.dos, kDosArchive);
}

TEST(RecordsTest, JournalNotesComeBack) {
  OpContext ctx{.protocol = Protocol::kNfs, .cred = {.uid = 7}, .client = "10.0.0.1"};
  const JournalNote note{.kind = ChangeKind::kRename,
                         .id = FileId{3},
                         .parent = FileId{1},
                         .name = "a",
                         .to_parent = FileId{2},
                         .to_name = "b"};
  const auto record = JournalRecord::decode(encode_note(note, ctx, {99}));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->uid, 7u);
  EXPECT_EQ(record->protocol, Protocol::kNfs);
  EXPECT_EQ(record->name, "a");
  EXPECT_EQ(record->to_name, "b");
  EXPECT_EQ(record->client, "10.0.0.1");
}

}  // namespace
}  // namespace stoa::core
