// Stored records: round trips, detection of damage, and stable bytes.
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

// None: it is read.
template <class Record>
Errc code(const Result<Record>& record) {
  return record ? Errc{} : record.error().code;
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
  inode.parent = FileId{16};
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
constexpr std::string_view kBlobV1 = "010102000000ac02";

TEST(RecordsTest, InodeKeepsItsBytes) {
  EXPECT_EQ(hex(sample().encode()), kInodeV1);
  const auto inode = Inode::decode(FileId{17}, bytes(kInodeV1));
  ASSERT_TRUE(inode);
  EXPECT_EQ(inode->encode(), sample().encode());
  EXPECT_EQ(inode->layout, sample().layout);
  EXPECT_EQ(inode->btime.ns, -4);
  EXPECT_EQ(inode->parent, FileId{16});
  EXPECT_EQ(inode->attribute_bytes, 300u);
  EXPECT_EQ(inode->dos, sample().dos);
  EXPECT_EQ(inode->flags, sample().flags);
}

// The directory of a multipart upload; and a stand-in for a directory of another shard.
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

TEST(RecordsTest, FlagsKeepTheirNumbers) {
  EXPECT_EQ(std::uint32_t{kLinkable}, 0x100u);
  EXPECT_EQ(std::uint32_t{kSealed}, 0x200u);
  Inode dir = sample();
  dir.type = FileType::kDirectory;
  dir.layout = {};
  dir.flags = kSealed;
  const std::string stored = dir.encode();
  EXPECT_EQ(hex(stored).substr(12, 18), "040302010200020000") << "generation, type, flags";
  EXPECT_TRUE(Inode::decode(FileId{17}, stored)->has(kSealed));
}

TEST(RecordsTest, DosAttributesThatDoNotExistAreDamage) {
  std::string stored = sample().encode();
  const std::size_t at = stored.find("\xa2\x40");  // kDosHidden | kDosArchive | kDosNotIndexed
  ASSERT_NE(at, std::string::npos);
  stored[at] = '\xb2';
  EXPECT_EQ(Inode::decode(FileId{17}, stored).error().code, Errc::kCorrupt);
}

TEST(RecordsTest, WhatIsNeverWrittenIsDamage) {
  constexpr std::size_t kTypeAt = 10;  // behind the envelope and the generation
  const auto of_type = [](Inode inode, int type) {
    std::string stored = inode.encode();
    stored[kTypeAt] = static_cast<char>(type);
    return code(Inode::decode(FileId{17}, stored));
  };
  Inode upload = sample(), stand_in = sample(), bin = sample(), last_change = sample();
  for (Inode* dir : {&upload, &stand_in, &bin}) {
    dir->type = FileType::kDirectory;
    dir->layout = {};
  }
  upload.charged_to = FileId{18};
  stand_in.target = FileId{19};
  bin.flags = kIsBin;
  last_change.change = UINT64_MAX;
  EXPECT_EQ(of_type(sample(), 1), Errc{});
  EXPECT_EQ(of_type(sample(), 0), Errc::kCorrupt);
  EXPECT_EQ(of_type(sample(), 8), Errc::kCorrupt);
  EXPECT_EQ(of_type(sample(), 2), Errc::kCorrupt) << "a directory with content";
  EXPECT_EQ(of_type(upload, 1), Errc::kCorrupt);
  EXPECT_EQ(of_type(stand_in, 1), Errc::kCorrupt);
  EXPECT_EQ(of_type(bin, 1), Errc::kCorrupt);
  EXPECT_EQ(of_type(last_change, 1), Errc::kCorrupt);
  const auto entry = [](FileId id, std::uint64_t cookie) {
    Encoder out;
    out.put(id).put(FileType::kRegular).put(std::uint8_t{0}).put_varint(cookie);
    return code(EntryRecord::decode(encode_record(1, 1, out.bytes())));
  };
  EXPECT_EQ(entry(FileId{17}, 3), Errc{});
  EXPECT_EQ(entry(FileId{17}, 2), Errc::kCorrupt);
  EXPECT_EQ(entry(kNoFile, 3), Errc::kCorrupt);
}

TEST(RecordsTest, EntryAndCookieKeepTheirBytes) {
  const EntryRecord entry{.id = FileId{17}, .type = FileType::kDirectory, .flags = kHiddenByDirectory, .cookie = 500};
  EXPECT_EQ(hex(entry.encode()), kEntryV1);
  EXPECT_EQ(EntryRecord::decode(bytes(kEntryV1)).value(), entry);
  const CookieRecord cookie{FileId{17}, FileType::kSymlink, 0, "name"};
  EXPECT_EQ(hex(cookie.encode()), kCookieV1);
  const auto again = CookieRecord::decode(bytes(kCookieV1));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->name, "name");
  EXPECT_EQ(again->type, FileType::kSymlink);
}

TEST(RecordsTest, BlobAndVolumeKeepTheirBytes) {
  EXPECT_EQ(hex(BlobRecord{300}.encode()), kBlobV1);
  EXPECT_EQ(BlobRecord::decode(bytes(kBlobV1))->references, 300);
  const VolumeRecord volume{{77, "v", {5}}, {1, 2}};
  EXPECT_EQ(hex(volume.encode()), kVolumeV1);
  const auto read = VolumeRecord::decode(bytes(kVolumeV1));
  ASSERT_TRUE(read) << describe(read.error());
  EXPECT_EQ(read->info.name, "v");
  EXPECT_EQ(read->handle_key, (SipKey{1, 2}));
}

TEST(RecordsTest, AVolumeOfAnotherVersionIsRefusedAndTold) {
  // As the development versions before 0.1.0 wrote it: three versions, and no magic number.
  for (const char version : {'\1', '\2', '\3'}) {
    std::string early = bytes("0101220000004d000000000000000176050000000000000001000000000000000200000000000000");
    early[0] = early[1] = version;
    const auto refused = VolumeRecord::decode(early);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kNotSupported);
    EXPECT_EQ(refused.error().cause, Cause::kVolumeEarly);
  }
  std::string newer = VolumeRecord{{77, "v", {5}}, {1, 2}}.encode();
  newer[0] = newer[1] = '\2';
  EXPECT_EQ(VolumeRecord::decode(newer).error().code, Errc::kNotSupported);
  EXPECT_EQ(VolumeRecord::decode(newer).error().cause, Cause::kVolumeNewer);
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
  // A later version appends a field, and states whether readers of version 1 may skip it.
  const std::string body = sample().encode().substr(6) + "new field";
  EXPECT_TRUE(Inode::decode(FileId{17}, encode_record(2, 1, body)));
  EXPECT_FALSE(Inode::decode(FileId{17}, encode_record(2, 2, body)));
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
