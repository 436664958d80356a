// Every kind of deletion moves files to the bin, and usage stays exact.
#include <gmock/gmock.h>

#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

template <class Engine>
class RecycleDeleteTest : public RecycleTest<Engine> {};
TYPED_TEST_SUITE(RecycleDeleteTest, Engines);

TYPED_TEST(RecycleDeleteTest, WithoutAPolicyADeleteIsADelete) {
  ASSERT_TRUE(this->volume_->registry().remove_recycle(this->team_));
  const FileId file = this->file_of(this->team_, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  EXPECT_EQ(this->ns().getattr({}, {file}).error().code, Errc::kStale);
  EXPECT_EQ(this->usage(this->team_), Usage{});
  EXPECT_EQ(this->find(this->team_, kRecycleName).error().code, Errc::kNotFound);
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, UnlinkMovesTheFileAndKeepsItsCharge) {
  const FileId file = this->file_of(this->team_, "f", "text");
  const auto before = this->usage(this->team_);
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  EXPECT_EQ(this->usage(this->team_), before);
  EXPECT_EQ(this->usage(kRootId), (Usage{4, 1, 1}));
  EXPECT_EQ(this->read(file), "text");
  EXPECT_THAT(this->names(this->team_), IsEmpty());
  const auto user_bin = this->names(this->user_bin(this->team_));
  ASSERT_THAT(user_bin, SizeIs(1));
  EXPECT_THAT(user_bin[0], StartsWith("f@"));
  const auto path = this->ns().path_of({}, {file});
  ASSERT_TRUE(path);
  EXPECT_EQ(path->path, "/team/.recycle/0/" + user_bin[0]);
  EXPECT_EQ(this->ns().resolve_path({}, {path->path})->attr.id, file);
  this->expect_consistent();
  this->reopen();
  EXPECT_EQ(this->read(file), "text");
  EXPECT_EQ(this->usage(this->team_), before);
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, ItIsRememberedWhoWhenWhereAndHow) {
  const FileId dir = *this->mkdir(this->team_, "d");
  this->file_of(dir, "f", "text");
  ASSERT_TRUE(this->ns().unlink(this->as(1000), {dir, "f"}));
  const auto items = this->items();
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_EQ(items[0].path, "/team/d/f");
  EXPECT_EQ(items[0].name, "f");
  EXPECT_EQ(items[0].uid, 1000u);
  EXPECT_EQ(items[0].protocol, Protocol::kNfs);
  EXPECT_EQ(items[0].client, "10.0.0.7");
  EXPECT_EQ(items[0].bytes, 4u);
  EXPECT_EQ(items[0].type, FileType::kRegular);
  // The directory may get another name, or go to the bin itself.
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "d", this->team_, "e"}));
  EXPECT_EQ(this->items()[0].path, "/team/e/f");
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "e"}));
  EXPECT_EQ(this->items()[0].path, "/team/e/f");
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, RmdirKeepsTheDirectory) {
  const FileId dir = *this->mkdir(this->team_, "d");
  ASSERT_TRUE(this->ns().setattr({}, {.id = dir, .set = {.mode = 0751, .uid = 7}}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "d"}));
  EXPECT_EQ(this->usage(this->team_), (Usage{0, 0, 1}));
  const auto attr = this->ns().getattr({}, {dir});
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->attr.mode, 0751u);
  EXPECT_EQ(attr->attr.uid, 7u);
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, RmdirOfWhatIsNotEmptyIsRefusedAsEver) {
  const FileId dir = *this->mkdir(this->team_, "d");
  this->file_of(dir, "f", "text");
  EXPECT_EQ(this->ns().rmdir({}, {this->team_, "d"}).error().code, Errc::kNotEmpty);
  EXPECT_THAT(this->items(), IsEmpty());
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, RenameOverKeepsWhatItReplaces) {
  this->file_of(this->team_, "a", "new");
  const FileId old = this->file_of(this->team_, "b", "old one");
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "a", this->team_, "b"}));
  EXPECT_EQ(this->read(old), "old one");
  EXPECT_EQ(this->usage(this->team_), (Usage{10, 2, 0}));
  this->expect_consistent();
  const FileId from = *this->mkdir(this->team_, "from");
  this->file_of(from, "x", "x");
  const FileId over = *this->mkdir(this->team_, "over");
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "from", this->team_, "over"}));
  EXPECT_TRUE(this->ns().getattr({}, {over}));
  EXPECT_EQ(this->usage(this->team_), (Usage{11, 3, 2}));
  const FileId other = *this->mkdir(kRootId, "other");
  ASSERT_TRUE(this->ns().mkdir({}, {.parent = other, .name = "over"}));
  ASSERT_TRUE(this->ns().rename({}, {other, "over", this->team_, "moved"}));
  ASSERT_TRUE(this->ns().mkdir({}, {.parent = other, .name = "over"}));
  ASSERT_TRUE(this->ns().rename({}, {other, "over", this->team_, "moved"}));
  EXPECT_THAT(this->items(), SizeIs(3));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, OtherTypesAndStrangeNames) {
  ASSERT_TRUE(this->ns().symlink({}, {this->team_, "link", "target"}));
  ASSERT_TRUE(this->ns().mknod({}, {this->team_, "pipe", FileType::kFifo}));
  const std::string longest = std::string(253, 'x') + "\xc3\xa4";
  this->file_of(this->team_, longest, "1");
  for (const std::string& name : {std::string("link"), std::string("pipe"), longest}) {
    ASSERT_TRUE(this->ns().unlink({}, {this->team_, name})) << name;
  }
  for (const std::string& key : {std::string("a//b"), std::string("dir/"), std::string("."), std::string(600, 'k')}) {
    ASSERT_TRUE(this->put(this->team_, key, "object"));
    const auto removed = this->ns().remove_key({}, {this->team_, key});
    ASSERT_TRUE(removed && removed->removed) << key;
  }
  for (const std::string& name : this->names(this->user_bin(this->team_))) {
    EXPECT_LE(name.size(), kNameBytesMax);
    EXPECT_TRUE(this->find(this->user_bin(this->team_), name)) << name;
  }
  this->expect_consistent();
  for (const RecycledItem& item : this->items()) ASSERT_TRUE(this->ns().restore({}, {item.item})) << item.name;
  EXPECT_TRUE(this->find(this->team_, longest));
  EXPECT_TRUE(this->ns().lookup_key({}, {this->team_, "a//b"}));
  EXPECT_TRUE(this->ns().lookup_key({}, {this->team_, std::string(600, 'k')}));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, TheNearestDirectoryWithAPolicyOrAnExportHasTheBin) {
  const FileId exported = *this->mkdir(this->team_, "exported");
  const FileId own = *this->mkdir(exported, "own");
  const FileId off = *this->mkdir(exported, "off");
  ASSERT_TRUE(this->volume_->registry().add_export({.name = "exported", .root = exported, .nfs = true}));
  this->set_policy({.dir = own, .days = 3});
  this->set_policy({.dir = off, .enabled = false});
  for (const FileId dir : {this->team_, exported, own, off}) {
    this->file_of(dir, "f", "text");
    ASSERT_TRUE(this->ns().unlink({}, {dir, "f"}));
  }
  EXPECT_THAT(this->names(this->user_bin(this->team_)), SizeIs(1));
  EXPECT_THAT(this->names(this->user_bin(exported)), SizeIs(1));
  EXPECT_THAT(this->names(this->user_bin(own)), SizeIs(1));
  EXPECT_EQ(this->bin(off), kNoFile);
  EXPECT_THAT(this->items(exported), SizeIs(2));
  EXPECT_EQ(this->usage(exported), (Usage{8, 2, 2}));
  const auto status = this->ns().recycle_status({}, {exported});
  ASSERT_TRUE(status && status->policy);
  EXPECT_EQ(status->policy->dir, this->team_);
  EXPECT_EQ(status->bin_of, exported);
  EXPECT_EQ(status->used, (Usage{4, 1, 0}));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, WhatIsNotCountedIsTheVolumesOnly) {
  this->set_policy({.dir = this->team_, .counted = false});
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.bytes = 4, .files = 1}}));
  for (int i = 0; i < 3; ++i) {
    this->file_of(this->team_, "f", "text");
    ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
    EXPECT_EQ(this->usage(this->team_), Usage{});
  }
  EXPECT_EQ(this->usage(kRootId), (Usage{12, 3, 1}));
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
  // Restored, it counts again.
  ASSERT_TRUE(this->ns().restore({}, {this->items()[0].item}));
  EXPECT_EQ(this->ns().restore({}, {this->items()[0].item, this->team_, "other"}).error().code, Errc::kQuota);
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, BinsFollowAChangeOfWhatIsCounted) {
  this->file_of(this->team_, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  this->set_policy({.dir = this->team_, .counted = false});
  ASSERT_TRUE(this->volume_->run_purge(wall_now()));
  EXPECT_EQ(this->usage(this->team_), Usage{});
  EXPECT_EQ(this->usage(kRootId), (Usage{4, 1, 1}));
  this->expect_consistent();
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.bytes = 3}}));
  this->set_policy({.dir = this->team_, .counted = true});
  ASSERT_TRUE(this->volume_->run_purge(wall_now()));
  EXPECT_EQ(this->usage(this->team_), Usage{});  // there is no room
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {}}));
  ASSERT_TRUE(this->volume_->run_purge(wall_now()));
  EXPECT_EQ(this->usage(this->team_), (Usage{4, 1, 0}));
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, ADeleteNeedsNoRoom) {
  const FileId dir = *this->mkdir(this->team_, "d");
  for (const char* name : {"a", "b"}) this->file_of(dir, name, "text");
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.bytes = 1, .files = 1}}));
  ASSERT_TRUE(this->ns().unlink(this->as(5), {dir, "a"}));
  ASSERT_TRUE(this->ns().unlink(this->as(6), {dir, "b"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "d"}));
  EXPECT_EQ(this->usage(this->team_), (Usage{8, 2, 1}));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, OwnersAreCountedOn) {
  const FileId owners = *this->mkdir(this->team_, "owners");
  ASSERT_TRUE(this->ns().count_owners({}, {owners, true}));
  this->set_policy({.dir = owners});
  const FileId file = this->file_of(owners, "f", "text");
  ASSERT_TRUE(this->ns().setattr({}, {.id = file, .set = {.uid = 9}}));
  ASSERT_TRUE(this->ns().unlink({}, {owners, "f"}));
  EXPECT_EQ(this->ns().usage({}, {owners, QuotaOf::kUser, 9})->usage, (Usage{4, 1, 0}));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, AHardLinkLosesItsNameOnly) {
  const FileId a = *this->mkdir(this->team_, "a");
  const FileId b = *this->mkdir(this->team_, "b");
  const FileId file = this->file_of(a, "f", "text");
  ASSERT_TRUE(this->ns().link({}, {file, b, "g"}));
  ASSERT_TRUE(this->ns().unlink({}, {a, "f"}));
  EXPECT_EQ(this->ns().getattr({}, {file})->attr.links, 2u);
  EXPECT_EQ(this->usage(a), Usage{});
  EXPECT_EQ(this->usage(b), (Usage{4, 1, 0}));
  EXPECT_TRUE(this->write(file, 0, "live"));  // it has a name outside
  this->expect_consistent();
  ASSERT_TRUE(this->ns().unlink({}, {b, "g"}));
  EXPECT_EQ(this->usage(b), Usage{});
  EXPECT_EQ(this->write(file, 0, "dead").error().code, Errc::kReadOnly);
  this->expect_consistent();
  ASSERT_TRUE(this->restore("f"));
  EXPECT_EQ(this->usage(a), (Usage{4, 1, 0}));
  EXPECT_TRUE(this->write(file, 0, "back"));
  this->expect_consistent();
  ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId}));
  EXPECT_EQ(this->ns().getattr({}, {file})->attr.links, 1u);
  EXPECT_EQ(this->read(file), "back");
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, ADirectoryThatAFileIsChargedToStillIsRemoved) {
  const FileId a = *this->mkdir(this->team_, "a");
  const FileId full = *this->mkdir(kRootId, "full");
  const FileId file = this->file_of(a, "f", "text");
  ASSERT_TRUE(this->ns().link({}, {file, full, "g"}));
  ASSERT_TRUE(this->ns().set_quota({}, {full, {.bytes = 1}}));
  ASSERT_TRUE(this->ns().unlink({}, {a, "f"}));
  EXPECT_EQ(this->usage(a), (Usage{4, 1, 0}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "a"}));
  EXPECT_EQ(this->ns().getattr({}, {a}).error().code, Errc::kStale);
  EXPECT_TRUE(this->write(file, 0, "live"));
  this->expect_consistent();
  ASSERT_TRUE(this->ns().unlink({}, {full, "g"}));
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, AnEmptyBinKeepsNoDirectoryThatCannotMove) {
  const FileId a = *this->mkdir(this->team_, "a");
  this->set_policy({.dir = a});
  const FileId file = this->file_of(a, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {a, "f"}));
  ASSERT_TRUE(this->restore("f"));
  ASSERT_NE(this->bin(a), kNoFile);
  ASSERT_TRUE(this->volume_->registry().remove_recycle(a));
  const FileId full = *this->mkdir(kRootId, "full");
  ASSERT_TRUE(this->ns().link({}, {file, full, "g"}));
  ASSERT_TRUE(this->ns().set_quota({}, {full, {.bytes = 1}}));
  ASSERT_TRUE(this->ns().unlink({}, {a, "f"}));
  const auto removed = this->ns().rmdir({}, {this->team_, "a"});
  EXPECT_TRUE(removed) << describe(removed.error());
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, ATreeWithABinThatNothingKeepsIsRefused) {
  const FileId own = *this->mkdir(this->team_, "own");
  this->set_policy({.dir = own});
  this->file_of(own, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {own, "f"}));
  ASSERT_TRUE(this->volume_->registry().remove_recycle(this->team_));
  EXPECT_EQ(this->ns().remove_tree({}, {kRootId, "team"}).error().code, Errc::kNotEmpty);
  ASSERT_TRUE(this->ns().purge({}, {.dir = own}));
  ASSERT_TRUE(this->ns().remove_tree({}, {kRootId, "team"}));
  EXPECT_EQ(this->usage(kRootId), Usage{});
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, ObjectsGoByTheirKeys) {
  ASSERT_TRUE(this->put(this->team_, "a/b/c", "object"));
  ASSERT_TRUE(this->ns().remove_key(this->as(0), {this->team_, "a/b/c"})->removed);
  EXPECT_EQ(this->find(this->team_, "a").error().code, Errc::kNotFound);  // implied by the key, and gone with it
  const auto items = this->items();
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_EQ(items[0].path, "/team/a/b/c");
  EXPECT_EQ(this->usage(this->team_), (Usage{6, 1, 0}));
  this->expect_consistent();
  ASSERT_TRUE(this->restore("c"));
  EXPECT_EQ(this->ns().lookup_key({}, {this->team_, "a/b/c"})->attr.size, 6u);
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, AReplacedObjectIsKeptWithItsMeta) {
  const std::string large(100'000, 'x');
  for (const std::string& text : {std::string("small"), large, std::string()}) {
    ASSERT_TRUE(this->ns().put_key(
        {}, {.root = this->team_, .key = "k", .bytes = std::as_bytes(std::span(text)), .meta = "meta"}));
  }
  const auto now = this->ns().put_key(
      {}, {.root = this->team_, .key = "k", .bytes = std::as_bytes(std::span(large)), .meta = "new"});
  ASSERT_TRUE(now && now->replaced);
  ASSERT_TRUE(this->ns().set_xattr({}, {now->attr.id, "user.a", "1"}));
  const auto items = this->items();
  ASSERT_THAT(items, SizeIs(3));
  EXPECT_EQ(this->read(items[0].id), "small");
  EXPECT_EQ(this->read(items[1].id), large);
  EXPECT_EQ(items[2].bytes, 0u);
  EXPECT_EQ(this->usage(this->team_), (Usage{200'012, 4, 0}));
  this->expect_consistent();
  EXPECT_EQ(this->ns().restore({}, {items[1].item}).error().code, Errc::kExists);
  ASSERT_TRUE(this->ns().restore({}, {items[1].item, this->team_, "old"}));
  const auto old = this->ns().lookup_key({}, {this->team_, "old"});
  ASSERT_TRUE(old && old->meta);
  EXPECT_EQ(old->meta->bytes, "meta");
  EXPECT_TRUE(old->meta->current(old->attr));
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_EQ(this->read(old->attr.id), large);
  this->expect_consistent();
  ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId}));
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_EQ(this->usage(this->team_), (Usage{200'007, 2, 0}));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, WhatWasWrittenAndNotYetCommittedIsKeptWithTheReplacedObject) {
  ASSERT_TRUE(this->put(this->team_, "k", std::string(100'000, 'x')));
  const FileId file = *this->find(this->team_, "k");
  OpContext lazy;
  lazy.durability = Durability::kApplied;
  const std::string more(50'000, 'y');
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(more))};
  ASSERT_TRUE(this->ns().write(lazy, {file, 100'000, pieces}));
  ASSERT_TRUE(this->put(this->team_, "k", "short"));
  ASSERT_THAT(this->items(), SizeIs(1));
  EXPECT_EQ(this->read(this->items()[0].id), std::string(100'000, 'x') + more);
  EXPECT_EQ(this->read(file), "short");
  this->expect_consistent();
  this->reopen();
  EXPECT_EQ(this->read(this->items()[0].id), std::string(100'000, 'x') + more);
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, AReplacedObjectNeedsRoomForBoth) {
  ASSERT_TRUE(this->put(this->team_, "k", "12345"));
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.bytes = 9}}));
  EXPECT_EQ(this->put(this->team_, "k", "12345").error().code, Errc::kQuota);
  EXPECT_THAT(this->items(), IsEmpty());
  EXPECT_TRUE(this->put(this->team_, "k", "1234"));
  EXPECT_EQ(this->usage(this->team_), (Usage{9, 2, 0}));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, MultipartUploadsLeaveNothing) {
  const FileId upload = *this->mkdir(kMultipartId, "upload");
  const FileId part = this->file_of(upload, "1", std::string(30'000, 'p'));
  ASSERT_TRUE(
      this->ns().concatenate({}, {.root = this->team_, .key = "k", .parts = {{.id = part}}, .consume_dir = upload}));
  EXPECT_THAT(this->items(), IsEmpty());
  const FileId again = *this->mkdir(kMultipartId, "again");
  const FileId other = this->file_of(again, "1", std::string(30'000, 'q'));
  ASSERT_TRUE(
      this->ns().concatenate({}, {.root = this->team_, .key = "k", .parts = {{.id = other}}, .consume_dir = again}));
  ASSERT_THAT(this->items(), SizeIs(1));
  EXPECT_EQ(this->read(this->items()[0].id), std::string(30'000, 'p'));
  const FileId aborted = *this->mkdir(kMultipartId, "aborted");
  this->file_of(aborted, "1", "x");
  ASSERT_TRUE(this->ns().remove_tree({}, {kMultipartId, "aborted"}));
  EXPECT_THAT(this->items(), SizeIs(1));
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, AnEmptyFolderOfKeysGoesWithItsMarker) {
  ASSERT_TRUE(this->put(this->team_, "d/", ""));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "d"}));
  EXPECT_EQ(this->usage(this->team_), (Usage{0, 1, 1}));
  this->expect_consistent();
  ASSERT_TRUE(this->restore("d"));
  EXPECT_TRUE(this->ns().lookup_key({}, {this->team_, "d/"}));
  this->expect_consistent();
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "d"}));
  ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId}));
  EXPECT_EQ(this->usage(this->team_), Usage{});
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, ADirectoryWithABinOfItsOwn) {
  const FileId own = *this->mkdir(this->team_, "own");
  this->set_policy({.dir = own});
  this->file_of(own, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {own, "f"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "own"}));  // bin and all
  EXPECT_EQ(this->usage(this->team_), (Usage{4, 1, 1}));
  this->expect_consistent();
  ASSERT_TRUE(this->restore("f"));  // and the directory before it
  EXPECT_EQ(this->read(*this->find(*this->find(this->team_, "own"), "f")), "text");
  this->expect_consistent();
  ASSERT_TRUE(this->ns().unlink({}, {own, "f"}));
  // No policy above keeps it: then the items of its bin must go first.
  ASSERT_TRUE(this->volume_->registry().remove_recycle(this->team_));
  EXPECT_EQ(this->ns().rmdir({}, {this->team_, "own"}).error().code, Errc::kNotEmpty);
  ASSERT_TRUE(this->ns().purge({}, {.dir = own}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "own"}));
  EXPECT_EQ(this->usage(this->team_), Usage{});
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, WhoMayNotDeleteLeavesNoTrace) {
  this->file_of(this->team_, "f", "text");
  ASSERT_TRUE(this->ns().setattr({}, {.id = this->team_, .set = {.mode = 0755}}));
  EXPECT_EQ(this->ns().unlink(this->as(1000), {this->team_, "f"}).error().code, Errc::kAccess);
  EXPECT_EQ(this->bin(this->team_), kNoFile);
  this->expect_consistent();
}

TYPED_TEST(RecycleDeleteTest, LongListsComeInPages) {
  for (int i = 0; i < 7; ++i) {
    this->file_of(this->team_, "f" + std::to_string(i), "x");
    ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f" + std::to_string(i)}));
  }
  std::vector<std::string> seen;
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    const auto page = this->ns().list_recycled({}, {this->team_, after, 3});
    ASSERT_TRUE(page);
    for (const RecycledItem& item : page->items) seen.push_back(item.name);
    after = page->items.back().item.serial;
    more = page->truncated;
  }
  EXPECT_THAT(seen, ElementsAre("f0", "f1", "f2", "f3", "f4", "f5", "f6"));
}

}  // namespace
}  // namespace stoa::core::test
