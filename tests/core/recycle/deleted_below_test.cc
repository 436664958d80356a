// Items deleted below a directory that lie in a bin above it: listing, purging, and restoring for the owner of the
// directory.
#include <gmock/gmock.h>

#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

template <class Engine>
class DeletedBelowTest : public RecycleTest<Engine> {
 protected:
  void SetUp() override {
    RecycleTest<Engine>::SetUp();
    mine_ = *this->mkdir(this->team_, "mine");
    other_ = *this->mkdir(this->team_, "other");
  }
  void deleted(FileId dir, const std::string& name) {
    this->file_of(dir, name, "text");
    ASSERT_TRUE(this->ns().unlink({}, {dir, name}));
  }
  std::vector<std::string> names_below(FileId dir) {
    std::vector<std::string> names;
    for (const RecycledItem& item : this->items(dir)) names.push_back(item.name);
    return names;
  }
  Errc refusal(const RestoreRequest& request) {
    const auto restored = this->ns().restore({}, request);
    EXPECT_FALSE(restored);
    return restored ? Errc{} : restored.error().code;
  }

  FileId mine_{}, other_{};
};
TYPED_TEST_SUITE(DeletedBelowTest, Engines);

TYPED_TEST(DeletedBelowTest, ABinAboveIsSearchedByWhereThingsWere) {
  const FileId deep = *this->mkdir(*this->mkdir(this->mine_, "a"), "deep");
  this->deleted(this->team_, "t");
  this->deleted(this->other_, "o");
  this->deleted(deep, "d");
  this->deleted(this->mine_, "m");
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("d", "m"));
  EXPECT_THAT(this->names_below(deep), ElementsAre("d"));
  EXPECT_THAT(this->names_below(this->other_), ElementsAre("o"));
  EXPECT_THAT(this->names_below(this->team_), ElementsAre("t", "o", "d", "m"));
  EXPECT_THAT(this->names_below(kRootId), ElementsAre("t", "o", "d", "m"));
  // A path prefix alone does not make a file lie below a directory.
  EXPECT_THAT(this->names_below(*this->mkdir(this->team_, "min")), IsEmpty());
}

TYPED_TEST(DeletedBelowTest, DirectoriesThatWereDeletedTooCountWhereTheyWere) {
  const FileId a = *this->mkdir(this->mine_, "a");
  const FileId b = *this->mkdir(a, "b");
  this->deleted(b, "f");
  ASSERT_TRUE(this->ns().rmdir({}, {a, "b"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->mine_, "a"}));
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("f", "b", "a"));
  EXPECT_THAT(this->names_below(this->other_), IsEmpty());
  EXPECT_EQ(this->items(this->mine_)[0].path, "/team/mine/a/b/f");
  // When the directory is purged, only the directory with the bin knows its items.
  ASSERT_TRUE(this->ns().purge({}, {.dir = this->mine_, .items = {this->item("b")}}));
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("a"));
  EXPECT_THAT(this->names_below(this->team_), ElementsAre("f", "a"));
}

TYPED_TEST(DeletedBelowTest, ABinThatIsNotCountedIsWhereItIsAllTheSame) {
  this->set_policy({.dir = this->team_, .counted = false});
  this->deleted(this->mine_, "early");
  this->set_policy({.dir = this->mine_});
  this->deleted(this->mine_, "late");
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "mine"}));  // its bin goes with it
  EXPECT_THAT(this->names_below(this->team_), ElementsAre("early", "late", "mine"));
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("early", "late"));
  EXPECT_THAT(this->names_below(this->other_), IsEmpty());
  EXPECT_EQ(this->ns().purge({}, {.dir = this->team_, .items = {this->item("late")}})->removed, 1u);
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_})->removed, 1u);
  EXPECT_THAT(this->names_below(this->team_), ElementsAre("mine"));
  this->expect_consistent();
}

TYPED_TEST(DeletedBelowTest, ADirectoryIsFollowed) {
  const FileId a = *this->mkdir(this->mine_, "a");
  this->deleted(a, "f");
  ASSERT_TRUE(this->ns().rename({}, {this->mine_, "a", this->other_, "b"}));
  EXPECT_THAT(this->names_below(this->mine_), IsEmpty());
  EXPECT_THAT(this->names_below(this->other_), ElementsAre("f"));
}

TYPED_TEST(DeletedBelowTest, ObjectsGoByTheDirectoryThatStays) {
  ASSERT_TRUE(this->put(this->team_, "mine/a/b/c", "object"));
  ASSERT_TRUE(this->ns().remove_key({}, {this->team_, "mine/a/b/c"})->removed);
  EXPECT_EQ(this->find(this->mine_, "a").error().code, Errc::kNotFound);
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("c"));
  EXPECT_THAT(this->names_below(this->other_), IsEmpty());
  EXPECT_EQ(this->refusal({.item = this->item("c"), .owned = this->other_}), Errc::kNotFound);
  ASSERT_TRUE(this->ns().restore({}, {.item = this->item("c"), .owned = this->mine_}));
  EXPECT_TRUE(this->ns().resolve_path({}, {"/team/mine/a/b/c"}));
  // Keys are names: where another directory has the name, that is where it was.
  ASSERT_TRUE(this->ns().remove_key({}, {this->team_, "mine/a/b/c"})->removed);
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "mine", this->team_, "renamed"}));
  EXPECT_THAT(this->names_below(this->mine_), IsEmpty());
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "other", this->team_, "mine"}));
  EXPECT_THAT(this->names_below(this->other_), ElementsAre("c"));
  EXPECT_EQ(this->refusal({.item = this->item("c"), .owned = this->mine_}), Errc::kNotFound);
  EXPECT_EQ(this->find(this->other_, "a").error().code, Errc::kNotFound);
  this->expect_consistent();
}

TYPED_TEST(DeletedBelowTest, BinsAtAndAboveComeTogetherInOrder) {
  this->deleted(this->mine_, "1");
  this->set_policy({.dir = this->mine_});
  this->deleted(this->mine_, "2");
  this->deleted(this->other_, "3");
  ASSERT_TRUE(this->volume_->registry().remove_recycle(this->mine_));
  this->deleted(this->mine_, "4");
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("1", "2", "4"));
  std::vector<std::string> seen;
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    const auto page = this->ns().list_recycled({}, {this->mine_, after, 1});
    ASSERT_TRUE(page);
    ASSERT_THAT(page->items, SizeIs(1));
    seen.push_back(page->items[0].name);
    more = page->truncated;
    if (more) {
      EXPECT_EQ(page->next, page->items[0].item.serial);
    }
    after = page->next;
  }
  EXPECT_THAT(seen, ElementsAre("1", "2", "4"));
}

// The items passed over in one call are bounded, so there are empty pages; nothing is lost, and nothing comes twice.
TYPED_TEST(DeletedBelowTest, AListThatPassesOverMuchGoesOnLater) {
  this->deleted(this->mine_, "first");
  for (int i = 0; i < 10'050; ++i) ASSERT_TRUE(this->create(this->other_, std::to_string(i)));
  for (int i = 0; i < 10'050; ++i) ASSERT_TRUE(this->ns().unlink({}, {this->other_, std::to_string(i)}));
  this->set_policy({.dir = this->mine_});
  this->deleted(this->mine_, "own");  // behind the end of this scan through the bin above
  ASSERT_TRUE(this->volume_->registry().remove_recycle(this->mine_));
  this->deleted(this->mine_, "last");
  std::vector<std::string> seen;
  std::uint64_t after = 0;
  int pages = 0;
  for (bool more = true; more; ++pages) {
    const auto page = this->ns().list_recycled({}, {.dir = this->mine_, .after = after});
    ASSERT_TRUE(page);
    for (const RecycledItem& item : page->items) seen.push_back(item.name);
    more = page->truncated;
    if (more) {
      ASSERT_GT(page->next, after);
    }
    after = page->next;
  }
  EXPECT_EQ(pages, 2);
  EXPECT_THAT(seen, ElementsAre("first", "own", "last"));
}

TYPED_TEST(DeletedBelowTest, PurgingTakesWhatTheListShows) {
  this->deleted(this->mine_, "m");
  this->deleted(this->mine_, "n");
  this->deleted(this->other_, "o");
  this->deleted(this->team_, "t");
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .items = {this->item("o"), this->item("t")}})->removed, 0u);
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .items = {this->item("m"), this->item("o")}})->removed, 1u);
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .items = {{FileId{12345}, 1}}})->removed, 0u);
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .older_than_seconds = 3600})->removed, 0u);
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_})->removed, 1u);
  EXPECT_THAT(this->names_below(kRootId), ElementsAre("o", "t"));
  this->expect_consistent();
}

TYPED_TEST(DeletedBelowTest, AnOwnerPurgesNothingThatOnlyAdministratorsRestore) {
  this->set_policy({.dir = this->team_, .restore = RestoreRight::kAdmin});
  this->deleted(this->mine_, "above");
  this->set_policy({.dir = this->mine_});
  this->deleted(this->mine_, "own");
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .by_owner = true}).error().code, Errc::kNotOwner);
  EXPECT_EQ(this->ns()
                .purge({}, {.dir = this->mine_, .items = {this->item("own"), this->item("above")}, .by_owner = true})
                .error()
                .code,
            Errc::kNotOwner);
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("above", "own"));
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .items = {this->item("own")}, .by_owner = true})->removed, 1u);
  // A bin above without items from here changes nothing.
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .items = {this->item("above")}})->removed, 1u);
  this->deleted(this->other_, "o");
  this->deleted(this->mine_, "own");
  EXPECT_EQ(this->ns().purge({}, {.dir = this->mine_, .by_owner = true})->removed, 1u);
  EXPECT_THAT(this->names_below(kRootId), ElementsAre("o"));
  this->expect_consistent();
}

TYPED_TEST(DeletedBelowTest, AnOwnerRestoresWhatWasDeletedBelowAndToPlacesBelow) {
  const FileId sub = *this->mkdir(this->mine_, "sub");
  this->deleted(sub, "f");
  this->deleted(this->mine_, "g");
  this->deleted(this->other_, "o");
  this->deleted(this->team_, "t");
  for (const char* name : {"o", "t"}) {
    EXPECT_EQ(this->refusal({.item = this->item(name), .owned = this->mine_}), Errc::kNotFound) << name;
    EXPECT_EQ(this->refusal({.item = this->item(name), .to_parent = this->mine_, .to_name = "x", .owned = this->mine_}),
              Errc::kNotFound);
  }
  for (const FileId place : {this->other_, this->team_, kRootId}) {
    EXPECT_EQ(this->refusal({.item = this->item("f"), .to_parent = place, .to_name = "x", .owned = this->mine_}),
              Errc::kAccess);
  }
  const auto restored = this->ns().restore({}, {.item = this->item("f"), .owned = this->mine_});
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->parent, sub);
  EXPECT_EQ(restored->name, "f");
  ASSERT_TRUE(
      this->ns().restore({}, {.item = this->item("g"), .to_parent = sub, .to_name = "h", .owned = this->mine_}));
  EXPECT_TRUE(this->find(sub, "h"));
  EXPECT_THAT(this->names_below(kRootId), ElementsAre("o", "t"));
  this->expect_consistent();
}

TYPED_TEST(DeletedBelowTest, WhatOnlyAdministratorsRestoreNoOwnerDoes) {
  this->set_policy({.dir = this->team_, .restore = RestoreRight::kAdmin});
  this->deleted(this->mine_, "f");
  EXPECT_EQ(this->refusal({.item = this->item("f"), .owned = this->mine_}), Errc::kNotOwner);
  EXPECT_TRUE(this->ns().restore({}, {.item = this->item("f")}));
}

TYPED_TEST(DeletedBelowTest, ADirectoryThatLeftTakesNothingAlong) {
  this->set_policy({.dir = this->mine_});
  const FileId a = *this->mkdir(this->mine_, "a");
  this->deleted(a, "f");
  ASSERT_TRUE(this->ns().rename({}, {this->mine_, "a", this->other_, "a"}));
  // It still lies in a bin of the owner's, but would be restored elsewhere.
  EXPECT_THAT(this->names_below(this->mine_), ElementsAre("f"));
  EXPECT_EQ(this->refusal({.item = this->item("f"), .owned = this->mine_}), Errc::kAccess);
  ASSERT_TRUE(this->ns().restore({}, {.item = this->item("f"), .to_parent = this->mine_, .owned = this->mine_}));
  this->expect_consistent();
}

TYPED_TEST(DeletedBelowTest, AnOwnerDoesNotBringBackTheDirectoryItself) {
  this->deleted(this->mine_, "f");
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "mine"}));
  EXPECT_EQ(this->refusal({.item = this->item("mine"), .owned = this->mine_}), Errc::kNotFound);
  EXPECT_EQ(this->refusal({.item = this->item("f"), .owned = this->mine_}), Errc::kNotFound);
  EXPECT_EQ(this->refusal({.item = this->item("f"), .to_parent = this->mine_, .owned = this->mine_}), Errc::kReadOnly);
  EXPECT_THAT(this->names_below(kRootId), UnorderedElementsAre("f", "mine"));
  EXPECT_EQ(this->find(this->team_, "mine").error().code, Errc::kNotFound);
  this->expect_consistent();
}

// Restoring reports the name that was chosen of two, not another name of the same file.
TYPED_TEST(DeletedBelowTest, TheNameThatCameBackIsTold) {
  const FileId file = this->file_of(this->mine_, "f", "text");
  ASSERT_TRUE(this->ns().link({}, {.id = file, .parent = kRootId, .name = "elsewhere"}));
  ASSERT_TRUE(this->ns().unlink({}, {this->mine_, "f"}));
  const auto restored = this->ns().restore({}, {.item = this->item("f"), .owned = this->mine_});
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->parent, this->mine_);
  EXPECT_EQ(restored->name, "f");
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
