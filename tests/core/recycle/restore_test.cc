#include <gmock/gmock.h>

#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

using ::testing::IsEmpty;

template <class Engine>
class RestoreTest : public RecycleTest<Engine> {};
TYPED_TEST_SUITE(RestoreTest, Engines);

TYPED_TEST(RestoreTest, InPlace) {
  const FileId file = this->file_of(this->team_, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  const auto restored = this->restore("f");
  ASSERT_TRUE(restored) << describe(restored.error());
  EXPECT_EQ(restored->id, file);
  EXPECT_EQ(this->find(this->team_, "f"), file);
  EXPECT_THAT(this->items(), IsEmpty());
  EXPECT_TRUE(this->write(file, 0, "live"));
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

TYPED_TEST(RestoreTest, TheDirectoryIsFollowedUnderItsNewName) {
  const FileId dir = *this->mkdir(this->team_, "d");
  this->file_of(dir, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {dir, "f"}));
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "d", this->team_, "e"}));
  ASSERT_TRUE(this->restore("f"));
  EXPECT_TRUE(this->ns().resolve_path({}, {"/team/e/f"}));
  this->expect_consistent();
}

TYPED_TEST(RestoreTest, AFileDeepInATreeThatWasRemoved) {
  FileId at = this->team_;
  std::vector<FileId> dirs;
  for (const char* name : {"a", "b", "c"}) dirs.push_back(at = *this->mkdir(at, name));
  this->file_of(at, "f", "text");
  this->file_of(at, "g", "other");
  ASSERT_TRUE(this->ns().unlink({}, {dirs[2], "f"}));
  ASSERT_TRUE(this->ns().unlink({}, {dirs[2], "g"}));
  ASSERT_TRUE(this->ns().rmdir({}, {dirs[1], "c"}));
  ASSERT_TRUE(this->ns().rmdir({}, {dirs[0], "b"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "a"}));
  EXPECT_EQ(this->items()[0].path, "/team/a/b/c/f");
  ASSERT_TRUE(this->restore("f"));
  EXPECT_TRUE(this->ns().resolve_path({}, {"/team/a/b/c/f"}));
  EXPECT_EQ(this->items().size(), 1u);
  EXPECT_EQ(this->usage(this->team_), (Usage{9, 2, 3}));
  this->expect_consistent();
  ASSERT_TRUE(this->restore("g"));
  this->expect_consistent();
}

TYPED_TEST(RestoreTest, WhereTheDirectoryIsGone) {
  const FileId dir = *this->mkdir(this->team_, "d");
  this->file_of(dir, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {dir, "f"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "d"}));
  ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId, .items = {this->item("d")}}));
  const auto lost = this->restore("f");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Errc::kNotFound);
  EXPECT_EQ(lost.error().cause, Cause::kRestorePlaceGone);
  EXPECT_EQ(this->items()[0].path, "");
  ASSERT_TRUE(this->restore("f", {}, this->team_));
  EXPECT_TRUE(this->find(this->team_, "f"));
  EXPECT_EQ(this->ns().restore({}, {{FileId{12345}, 1}}).error().code, Errc::kNotFound);
  this->expect_consistent();
}

TYPED_TEST(RestoreTest, ATakenNameIsNotReplaced) {
  this->file_of(this->team_, "f", "old");
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  this->file_of(this->team_, "f", "new");
  EXPECT_EQ(this->restore("f").error().code, Errc::kExists);
  EXPECT_EQ(this->restore("f", {}, this->team_, kRecycleName).error().code, Errc::kExists);
  ASSERT_TRUE(this->restore("f", {}, this->team_, "f.old"));
  EXPECT_EQ(this->read(*this->find(this->team_, "f.old")), "old");
  this->expect_consistent();
  // A directory where a file was.
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  ASSERT_TRUE(this->mkdir(this->team_, "f"));
  EXPECT_EQ(this->restore("f").error().code, Errc::kExists);
}

TYPED_TEST(RestoreTest, AcrossQuotas) {
  const FileId small = *this->mkdir(kRootId, "small");
  ASSERT_TRUE(this->ns().set_quota({}, {small, {.bytes = 3}}));
  this->file_of(this->team_, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  EXPECT_EQ(this->restore("f", {}, small).error().code, Errc::kQuota);
  this->expect_consistent();
  ASSERT_TRUE(this->ns().set_quota({}, {small, {.bytes = 4}}));
  ASSERT_TRUE(this->restore("f", {}, small));
  EXPECT_EQ(this->usage(this->team_), Usage{});
  EXPECT_EQ(this->usage(small), (Usage{4, 1, 0}));
  this->expect_consistent();
}

TYPED_TEST(RestoreTest, WhoMay) {
  const FileId file = this->file_of(this->team_, "f", "text");
  ASSERT_TRUE(this->ns().setattr({}, {.id = file, .set = {.uid = 1001}}));
  ASSERT_TRUE(this->ns().unlink(this->as(1000), {this->team_, "f"}));
  const RecycleItemId item = this->item("f");
  EXPECT_EQ(this->ns().restore(this->as(1002), {item}).error().code, Errc::kNotOwner);
  this->set_policy({.dir = this->team_, .restore = RestoreRight::kAdmin});
  EXPECT_EQ(this->ns().restore(this->as(1000), {item}).error().code, Errc::kNotOwner);
  this->set_policy({.dir = this->team_});
  // And the caller needs the right to make the name.
  ASSERT_TRUE(this->ns().setattr({}, {.id = this->team_, .set = {.mode = 0755}}));
  EXPECT_EQ(this->ns().restore(this->as(1000), {item}).error().code, Errc::kAccess);
  ASSERT_TRUE(this->ns().setattr({}, {.id = this->team_, .set = {.mode = 0777}}));
  ASSERT_TRUE(this->ns().restore(this->as(1001), {item}));
  ASSERT_TRUE(this->ns().unlink(this->as(1000), {this->team_, "f"}));
  EXPECT_TRUE(this->restore("f", this->as(1000)));
  this->expect_consistent();
}

TYPED_TEST(RestoreTest, ByMovingItOutOfTheBin) {
  const FileId file = this->file_of(this->team_, "f", "text");
  const FileId dir = *this->mkdir(this->team_, "d");
  ASSERT_TRUE(this->ns().unlink(this->as(1000), {this->team_, "f"}));
  ASSERT_TRUE(this->ns().rmdir(this->as(1000), {this->team_, "d"}));
  const FileId user_bin = this->user_bin(this->team_, "1000");
  this->file_of(this->team_, "taken", "x");
  for (const std::string& name : this->names(user_bin)) {
    EXPECT_EQ(this->ns().rename(this->as(1001), {user_bin, name, this->team_, "x"}).error().code, Errc::kAccess);
    EXPECT_EQ(this->ns().rename(this->as(1000), {user_bin, name, this->team_, "taken"}).error().code, Errc::kExists);
    EXPECT_EQ(this->ns().rename(this->as(1000), {user_bin, name, user_bin, "x"}).error().code, Errc::kReadOnly);
    const std::string to = "back-" + name.substr(0, 1);
    const auto moved = this->ns().rename(this->as(1000), {user_bin, name, this->team_, to});
    ASSERT_TRUE(moved) << describe(moved.error());
    EXPECT_EQ(moved->to.id, this->team_);
  }
  EXPECT_EQ(this->find(this->team_, "back-f"), file);
  EXPECT_EQ(this->find(this->team_, "back-d"), dir);
  EXPECT_THAT(this->items(), IsEmpty());
  this->expect_consistent();
}

// Nothing is replaced, so no bin is prepared: the existing target is not looked at, and no bin is made.
TYPED_TEST(RestoreTest, ByMovingItOutOfTheBinOntoADirectoryOfAnother) {
  this->file_of(this->team_, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  const FileId other = *this->mkdir(kRootId, "other");
  this->set_policy({.dir = other});
  ASSERT_TRUE(this->mkdir(other, "taken"));
  const FileId user_bin = this->user_bin(this->team_);
  const std::string name = this->names(user_bin).at(0);
  EXPECT_EQ(this->ns().rename({}, {user_bin, name, other, "taken"}).error().code, Errc::kExists);
  EXPECT_EQ(this->bin(other), kNoFile);
  EXPECT_EQ(this->items().size(), 1u);
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
