// An empty directory goes to a bin with the tree lock shared: with a new account, while charges of the old one may be
// queued still. A directory with an account that must move along moves as a whole.
#include <gmock/gmock.h>

#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class Engine>
class BareDirectoryTest : public RecycleTest<Engine> {
 protected:
  ~BareDirectoryTest() override {
    this->expect_consistent();
    this->reopen();
    this->expect_consistent();
  }
  Status rmdir(FileId parent, std::string_view name) {
    STOA_CHECK_OK(this->ns().rmdir({}, {parent, name}));
    return {};
  }
  // The directory of each account from the root down to it.
  std::vector<FileId> above(FileId id) { return this->ns().ancestors({}, {id})->directories; }
};
TYPED_TEST_SUITE(BareDirectoryTest, Engines);

TYPED_TEST(BareDirectoryTest, WhatWasInItAMomentAgoIsCountedWhereItIsNow) {
  const FileId dir = *this->mkdir(this->team_, "d");
  // Nothing of this is written before the directory goes: a delete without durability waits for nothing.
  OpContext lazy;
  lazy.durability = Durability::kApplied;
  for (int round = 0; round < 3; ++round) {
    const auto file = this->ns().create(lazy, {.parent = dir, .name = "f"});
    ASSERT_TRUE(file);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(std::string_view("text")))};
    ASSERT_TRUE(this->ns().write(lazy, {file->attr.id, 0, pieces}));
    ASSERT_TRUE(this->ns().mkdir(lazy, {.parent = dir, .name = "inner"}));
    ASSERT_TRUE(this->ns().unlink(lazy, {dir, "f"}));
    ASSERT_TRUE(this->ns().rmdir(lazy, {dir, "inner"}));
    ASSERT_TRUE(this->ns().rmdir(lazy, {this->team_, "d"}));
    EXPECT_EQ(this->usage(dir), Usage{});
    EXPECT_EQ(this->above(dir),
              (std::vector{kRootId, this->team_, this->bin(this->team_), this->user_bin(this->team_), dir}));
    ASSERT_TRUE(this->restore("d"));
    EXPECT_EQ(this->above(dir), (std::vector{kRootId, this->team_, dir}));
  }
  EXPECT_EQ(this->usage(this->team_), (Usage{12, 3, 4}));
  this->file_of(dir, "g", "content");
  EXPECT_EQ(this->usage(dir), (Usage{7, 1, 0}));
  EXPECT_EQ(this->usage(this->team_), (Usage{19, 4, 4}));
  this->expect_consistent();
  this->reopen();
  EXPECT_EQ(this->usage(dir), (Usage{7, 1, 0}));
  EXPECT_EQ(this->usage(this->team_), (Usage{19, 4, 4}));
}

TYPED_TEST(BareDirectoryTest, ItIsReadOnlyInTheBinAndEmptyAfterARestart) {
  const FileId dir = *this->mkdir(this->team_, "d");
  this->file_of(dir, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {dir, "f"}));
  ASSERT_TRUE(this->rmdir(this->team_, "d"));
  EXPECT_EQ(this->create(dir, "g").error().code, Errc::kReadOnly);
  EXPECT_EQ(this->ns().set_quota({}, {dir, {.files = 1}}).error().code, Errc::kReadOnly);
  this->reopen();
  EXPECT_EQ(this->create(dir, "g").error().code, Errc::kReadOnly);
  EXPECT_EQ(this->usage(dir), Usage{});
  ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId}));
  EXPECT_EQ(this->usage(this->team_), Usage{});
}

TYPED_TEST(BareDirectoryTest, RoomIsFreeAtOnceWhereTheBinDoesNotCount) {
  this->set_policy({.dir = this->team_, .counted = false});
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.files = 1}}));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(this->mkdir(this->team_, "d"));
    EXPECT_EQ(this->mkdir(this->team_, "e").error().code, Errc::kQuota);
    ASSERT_TRUE(this->rmdir(this->team_, "d"));
    EXPECT_EQ(this->usage(this->team_), Usage{});
  }
  EXPECT_EQ(this->usage(kRootId), (Usage{0, 0, 4}));
}

TYPED_TEST(BareDirectoryTest, ALimitThatDoesNotCountTheBinHasRoomAtOnceAndARestoreNeedsIt) {
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.files = 1, .excluded = {UsageClass::kRecycled}}}));
  ASSERT_TRUE(this->mkdir(this->team_, "d"));
  ASSERT_TRUE(this->rmdir(this->team_, "d"));
  ASSERT_TRUE(this->mkdir(this->team_, "e"));
  EXPECT_EQ(this->restore("d").error().code, Errc::kQuota);
  EXPECT_EQ(this->usage(this->team_), (Usage{0, 0, 2}));
}

TYPED_TEST(BareDirectoryTest, OwnersAreCountedOn) {
  ASSERT_TRUE(this->ns().count_owners({}, {this->team_, true}));
  const FileId dir = *this->mkdir(this->team_, "d");
  ASSERT_TRUE(this->ns().setattr({}, {.id = dir, .set = {.uid = 9}}));
  const auto of_user = [&] { return this->ns().usage({}, {this->team_, QuotaOf::kUser, 9})->usage; };
  ASSERT_TRUE(this->rmdir(this->team_, "d"));
  EXPECT_EQ(of_user(), (Usage{0, 0, 1}));
  ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId}));
  EXPECT_EQ(of_user(), Usage{});
  this->set_policy({.dir = this->team_, .counted = false});
  ASSERT_TRUE(this->volume_->run_purge(wall_now()));  // the bin follows
  ASSERT_TRUE(this->ns().setattr({}, {.id = *this->mkdir(this->team_, "e"), .set = {.uid = 9}}));
  ASSERT_TRUE(this->rmdir(this->team_, "e"));
  EXPECT_EQ(of_user(), Usage{});
}

TYPED_TEST(BareDirectoryTest, WhatIsSaidOfItGoesAlong) {
  const FileId limited = *this->mkdir(this->team_, "limited");
  ASSERT_TRUE(this->ns().set_quota({}, {limited, {.bytes = 5}}));
  const FileId homes = *this->mkdir(this->team_, "homes");
  ASSERT_TRUE(this->ns().set_quota({}, {homes, {.files = 6}, QuotaOf::kChildren}));
  const FileId owners = *this->mkdir(this->team_, "owners");
  ASSERT_TRUE(this->ns().count_owners({}, {owners, true}));
  ASSERT_TRUE(this->ns().set_quota({}, {owners, {.files = 7}, QuotaOf::kUser, 9}));
  ASSERT_TRUE(this->put(this->team_, "marked/", ""));
  for (const char* name : {"limited", "homes", "owners", "marked"}) ASSERT_TRUE(this->rmdir(this->team_, name)) << name;
  this->expect_consistent();
  this->reopen();
  for (const char* name : {"limited", "homes", "owners", "marked"}) ASSERT_TRUE(this->restore(name)) << name;
  EXPECT_EQ(this->ns().usage({}, {limited})->limits.bytes, 5u);
  EXPECT_EQ(this->ns().usage({}, {homes})->child_limits.files, 6u);
  EXPECT_EQ(this->ns().usage({}, {owners, QuotaOf::kUser, 9})->limits.files, 7u);
  EXPECT_TRUE(this->ns().lookup_key({}, {this->team_, "marked/"}));
}

TYPED_TEST(BareDirectoryTest, WithABinOfItsOwn) {
  const FileId dir = *this->mkdir(this->team_, "d");
  this->set_policy({.dir = dir});
  this->file_of(dir, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {dir, "f"}));
  ASSERT_TRUE(this->rmdir(this->team_, "d"));
  EXPECT_EQ(this->usage(dir), (Usage{4, 1, 0}));
  this->expect_consistent();
  ASSERT_TRUE(this->restore("d"));
  ASSERT_TRUE(this->restore("f"));
  EXPECT_THAT(this->names(dir), ElementsAre("f"));
}

TYPED_TEST(BareDirectoryTest, ReplacedByARename) {
  const FileId over = *this->mkdir(this->team_, "over");
  ASSERT_TRUE(this->mkdir(this->team_, "from"));
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "from", this->team_, "over"}));
  EXPECT_EQ(this->above(over),
            (std::vector{kRootId, this->team_, this->bin(this->team_), this->user_bin(this->team_), over}));
  // With a limit of its own it needs the exclusive tree lock.
  const FileId limited = *this->mkdir(this->team_, "limited");
  ASSERT_TRUE(this->ns().set_quota({}, {limited, {.bytes = 5}}));
  ASSERT_TRUE(this->ns().rename({}, {this->team_, "over", this->team_, "limited"}));
  EXPECT_EQ(this->ns().usage({}, {limited})->limits.bytes, 5u);
  EXPECT_EQ(this->above(limited),
            (std::vector{kRootId, this->team_, this->bin(this->team_), this->user_bin(this->team_), limited}));
  EXPECT_EQ(this->usage(this->team_), (Usage{0, 0, 3}));
}

TYPED_TEST(BareDirectoryTest, AUserBinThatWentIsMadeAgain) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(this->mkdir(this->team_, "d"));
    ASSERT_TRUE(this->ns().rmdir(this->as(0), {this->team_, "d"}));
    ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId}));
    // Without a policy an empty bin goes.
    ASSERT_TRUE(this->volume_->registry().remove_recycle(this->team_));
    ASSERT_TRUE(this->volume_->run_purge(wall_now()));
    EXPECT_EQ(this->bin(this->team_), kNoFile);
    this->set_policy({.dir = this->team_});
  }
  EXPECT_THAT(this->items(), IsEmpty());
}

// Users and groups are counted file by file: files found in the directory afterwards are charged at its present place.
TYPED_TEST(BareDirectoryTest, WhileOwnersAreCounted) {
  const FileId counted = *this->mkdir(this->team_, "counted");
  const FileId elsewhere = *this->mkdir(kRootId, "elsewhere");
  const FileId dir = *this->mkdir(counted, "d");
  this->file_of(dir, "early", "text");
  for (int i = 0; i < 20; ++i) this->file_of(counted, std::to_string(i), "text");
  this->file_of(counted, "late", "long text");
  ASSERT_TRUE(this->ns().count_owners({}, {counted, true}));
  for (int i = 0; i < 10; ++i)
    ASSERT_FALSE(*this->volume_->run_owner_count(1));  // past the first of these, and not to the last
  ASSERT_TRUE(this->ns().unlink({}, {dir, "early"}));
  ASSERT_TRUE(this->rmdir(counted, "d"));
  ASSERT_TRUE(this->restore("d", {}, elsewhere));
  ASSERT_TRUE(this->ns().rename({}, {counted, "late", dir, "late"}));
  while (!*this->volume_->run_owner_count(1000)) continue;
  EXPECT_FALSE(this->ns().usage({}, {counted})->counting);
  EXPECT_EQ(this->ns().usage({}, {counted, QuotaOf::kUser, 0})->usage, this->usage(counted));
  EXPECT_EQ(this->usage(counted).files, 20);
}

}  // namespace
}  // namespace stoa::core::test
