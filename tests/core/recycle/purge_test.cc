#include <gmock/gmock.h>

#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kDay = std::int64_t{24} * 3600 * 1'000'000'000;
Timestamp in_days(std::int64_t days) {
  return {wall_now().ns + days * kDay + kDay / 2};
}

template <class Engine>
class PurgeTest : public RecycleTest<Engine> {
 protected:
  void fill(int files, std::string_view text) {
    for (int i = 0; i < files; ++i) {
      const std::string name = "f" + std::to_string(i);
      this->file_of(this->team_, name, text);
      ASSERT_TRUE(this->ns().unlink({}, {this->team_, name}));
    }
  }
};
TYPED_TEST_SUITE(PurgeTest, Engines);

TYPED_TEST(PurgeTest, ByAge) {
  this->fill(3, "text");
  ASSERT_TRUE(this->volume_->run_purge(in_days(13)));
  EXPECT_THAT(this->items(), SizeIs(3));
  ASSERT_TRUE(this->volume_->run_purge(in_days(14)));
  EXPECT_THAT(this->items(), IsEmpty());
  EXPECT_EQ(this->usage(this->team_), Usage{});
  this->expect_consistent();
  this->fill(1, "text");  // later ones go, too
  ASSERT_TRUE(this->volume_->run_purge(in_days(14)));
  EXPECT_THAT(this->items(), IsEmpty());
  this->expect_consistent();
}

TYPED_TEST(PurgeTest, WithoutALimitOfAgeNothingGoes) {
  this->set_policy({.dir = this->team_, .days = 0});
  this->fill(1, "text");
  ASSERT_TRUE(this->volume_->run_purge(in_days(10'000)));
  EXPECT_THAT(this->items(), SizeIs(1));
}

TYPED_TEST(PurgeTest, TheOldestGoWhenThereIsTooMuch) {
  this->set_policy({.dir = this->team_, .bytes_max = 10});
  this->fill(5, "text");
  ASSERT_TRUE(this->volume_->run_purge(wall_now()));
  const auto items = this->items();
  ASSERT_THAT(items, SizeIs(2));
  EXPECT_EQ(items[0].name, "f3");
  EXPECT_EQ(this->usage(this->team_), (Usage{8, 2, 0}));
  this->expect_consistent();
}

TYPED_TEST(PurgeTest, ATreeOfDirectories) {
  const FileId a = *this->mkdir(this->team_, "a");
  const FileId b = *this->mkdir(a, "b");
  this->file_of(b, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {b, "f"}));
  ASSERT_TRUE(this->ns().rmdir({}, {a, "b"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "a"}));
  ASSERT_TRUE(this->volume_->run_purge(in_days(20)));
  EXPECT_EQ(this->usage(this->team_), Usage{});
  this->expect_consistent();
}

TYPED_TEST(PurgeTest, ADirectoryWithABinOfItsOwn) {
  const FileId own = *this->mkdir(this->team_, "own");
  this->set_policy({.dir = own});
  this->file_of(own, "f", "text");
  ASSERT_TRUE(this->ns().unlink({}, {own, "f"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "own"}));
  ASSERT_TRUE(this->ns().purge({}, {.dir = kRootId, .items = {this->item("own")}}));
  EXPECT_THAT(this->items(), IsEmpty());
  EXPECT_EQ(this->usage(kRootId), (Usage{0, 0, 1}));
  this->expect_consistent();
}

TYPED_TEST(PurgeTest, ByCall) {
  this->fill(3, "text");
  EXPECT_EQ(this->ns().purge(this->as(1000), {.dir = kRootId}).error().code, Errc::kNotOwner);
  const FileId other = *this->mkdir(kRootId, "other");
  EXPECT_EQ(this->ns().purge({}, {.dir = other})->removed, 0u);
  EXPECT_EQ(this->ns().purge({}, {.dir = kRootId, .older_than_seconds = 3600})->removed, 0u);
  EXPECT_EQ(this->ns().purge({}, {.dir = this->team_, .items = {this->item("f1")}})->removed, 1u);
  EXPECT_EQ(this->usage(this->team_), (Usage{8, 2, 0}));
  EXPECT_EQ(this->ns().purge({}, {.dir = this->team_, .older_than_seconds = 0})->removed, 2u);
  EXPECT_EQ(this->usage(this->team_), Usage{});
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

// A file is charged to its directory, whose bins must not be purged.
TYPED_TEST(PurgeTest, AFileHasNoBins) {
  this->fill(1, "text");
  const FileId file = this->file_of(this->team_, "beside", "text");
  EXPECT_EQ(this->ns().purge({}, {.dir = file}).error().code, Errc::kNotDirectory);
  EXPECT_EQ(this->ns().list_recycled({}, {.dir = file}).error().code, Errc::kNotDirectory);
  EXPECT_THAT(this->items(), SizeIs(1));
}

TYPED_TEST(PurgeTest, WhatAPolicyLeftBehindAgesOnAndThenTheBinGoes) {
  this->fill(2, "text");
  this->set_policy({.dir = this->team_, .enabled = false, .days = 5});
  this->file_of(this->team_, "g", "text");
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "g"}));
  EXPECT_THAT(this->items(), SizeIs(2));
  ASSERT_TRUE(this->volume_->run_purge(in_days(4)));
  EXPECT_NE(this->bin(this->team_), kNoFile);
  ASSERT_TRUE(this->volume_->run_purge(in_days(5)));
  EXPECT_EQ(this->bin(this->team_), kNoFile);
  this->expect_consistent();
  this->set_policy({.dir = this->team_});
  this->fill(1, "text");
  EXPECT_THAT(this->items(), SizeIs(1));
  this->expect_consistent();
}

TYPED_TEST(PurgeTest, AfterARestart) {
  this->fill(3, std::string(50'000, 'x'));
  this->reopen();
  ASSERT_TRUE(this->volume_->run_purge(in_days(14)));
  ASSERT_TRUE(this->volume_->run_gc());
  EXPECT_EQ(this->usage(kRootId), (Usage{0, 0, 1}));
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
