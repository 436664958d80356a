// A file purged from a bin while it is open: it lives on without a name, and counts where its bin did.
#include "tests/core/recycle/recycle_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class PurgedWhileOpenTest : public RecycleTest<Engine> {
 protected:
  ~PurgedWhileOpenTest() override {
    EXPECT_TRUE(this->volume_->flush());
    this->expect_consistent();
  }
  OpenId open(FileId file) {
    const auto opened = this->volume_->state().open(
        {file, this->volume_->state().add_holder(Protocol::kNfs, nullptr), kShareBoth, kShareNone});
    EXPECT_TRUE(opened);
    return opened.value_or(OpenId{});
  }
  Status write(FileId id, OpenId through, std::uint64_t offset, std::string_view text) {
    OpContext ctx;
    ctx.open = through;
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
    STOA_CHECK_OK(this->ns().write(ctx, {id, offset, pieces}));
    return {};
  }
};
TYPED_TEST_SUITE(PurgedWhileOpenTest, Engines);

TYPED_TEST(PurgedWhileOpenTest, TheBinIsEmptyAndItsDirectoryGoesOnCounting) {
  const FileId file = this->file_of(this->team_, "f", std::string(100, 'x'));
  const OpenId opened = this->open(file);
  ASSERT_TRUE(this->ns().set_quota({}, {this->team_, {.bytes = 110}}));
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  ASSERT_TRUE(this->write(file, opened, 100, "more"));
  ASSERT_TRUE(this->ns().purge({}, {.dir = this->team_}));
  EXPECT_EQ(this->ns().recycle_status({}, {this->team_})->used, Usage{});
  EXPECT_EQ(this->usage(this->team_), (Usage{104, 1, 0}));
  this->expect_consistent();
  EXPECT_EQ(this->write(file, opened, 104, "1234567").error().code, Errc::kQuota);
  EXPECT_TRUE(this->write(file, opened, 104, "123456"));
  // The bin is empty, so it goes with its directory.
  ASSERT_TRUE(this->ns().rmdir({}, {kRootId, "team"}));
  EXPECT_EQ(this->usage(kRootId), (Usage{110, 1, 0}));
  this->expect_consistent();
  this->volume_->state().close(opened);
  EXPECT_EQ(this->usage(kRootId), Usage{});
}

TYPED_TEST(PurgedWhileOpenTest, WhatDidNotCountBelowTheVolumeStillDoesNot) {
  this->set_policy({.dir = this->team_, .counted = false});
  const FileId file = this->file_of(this->team_, "f", std::string(100, 'x'));
  const OpenId opened = this->open(file);
  ASSERT_TRUE(this->ns().unlink({}, {this->team_, "f"}));
  ASSERT_TRUE(this->ns().purge({}, {.dir = this->team_}));
  EXPECT_EQ(this->usage(this->team_), Usage{});
  EXPECT_EQ(this->usage(kRootId), (Usage{100, 1, 1}));
  this->expect_consistent();
  this->volume_->state().close(opened);
  EXPECT_EQ(this->usage(kRootId), (Usage{0, 0, 1}));
}

TYPED_TEST(PurgedWhileOpenTest, ADirectoryThatCountsAFileWithoutANameIsRemovedAndNotKept) {
  this->set_policy({.dir = this->team_, .enabled = false});
  const FileId dir = *this->mkdir(this->team_, "d");
  const FileId file = this->file_of(dir, "f", "x");
  const OpenId opened = this->open(file);
  ASSERT_TRUE(this->ns().unlink({}, {dir, "f"}));
  this->set_policy({.dir = this->team_});
  ASSERT_TRUE(this->ns().rmdir({}, {this->team_, "d"}));
  EXPECT_TRUE(this->items().empty());
  EXPECT_EQ(this->usage(this->team_), (Usage{1, 1, 0}));
  EXPECT_TRUE(this->write(file, opened, 1, "y"));
  this->expect_consistent();
  this->volume_->state().close(opened);
  EXPECT_EQ(this->usage(this->team_), Usage{});
}

}  // namespace
}  // namespace stoa::core::test
