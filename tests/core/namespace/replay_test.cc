// A request that was done before the start and comes again is answered, and not run again.
#include "core/journal/finished_requests.h"
#include "core/journal/journal.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class ReplayTest : public VolumeTest<Engine> {
 protected:
  // The context of request `number`, as a protocol makes it.
  static OpContext request(std::uint64_t number) { return {.request = {number, 1}}; }
  std::uint64_t entries(FileId dir) {
    const auto listing = this->ns().readdir({}, {.dir = dir});
    EXPECT_TRUE(listing);
    return listing ? listing->entries.size() - 2 : 0;
  }
};
TYPED_TEST_SUITE(ReplayTest, Engines);

TYPED_TEST(ReplayTest, WhatWasMadeIsNotMadeAgain) {
  const auto dir = this->mkdir(kRootId, "dir");
  const auto file = this->create(kRootId, "file");
  ASSERT_TRUE(dir && file);
  const auto each = [&](auto&& run) {
    run(1, [&](const OpContext& ctx) {
      return this->ns().create(ctx, {.parent = *dir, .name = "f", .mode = CreateMode::kGuarded});
    });
    run(2, [&](const OpContext& ctx) { return this->ns().mkdir(ctx, {.parent = *dir, .name = "d"}); });
    run(3, [&](const OpContext& ctx) { return this->ns().symlink(ctx, {.parent = *dir, .name = "s", .target = "t"}); });
    run(4, [&](const OpContext& ctx) {
      return this->ns().mknod(ctx, {.parent = *dir, .name = "p", .type = FileType::kFifo});
    });
    run(5, [&](const OpContext& ctx) { return this->ns().link(ctx, {.id = *file, .parent = *dir, .name = "l"}); });
  };
  std::vector<FileId> made(6);
  each([&](std::uint64_t number, auto op) {
    const auto reply = op(this->request(number));
    ASSERT_TRUE(reply) << describe(reply.error());
    made[number] = reply->attr.id;
  });
  this->reopen();
  each([&](std::uint64_t number, auto op) {
    EXPECT_EQ(op(OpContext{}).error().code, Errc::kExists) << number;
    EXPECT_EQ(op(this->request(100 + number)).error().code, Errc::kExists) << number;
    const auto again = op(this->request(number));
    ASSERT_TRUE(again) << number << ": " << describe(again.error());
    EXPECT_TRUE(again->created);
    EXPECT_EQ(again->attr.id, made[number]);
    EXPECT_EQ(again->parent.id, *dir);
    EXPECT_EQ(again->parent_before.change, again->parent.change);
  });
  EXPECT_EQ(this->entries(*dir), 5u);
  EXPECT_EQ(this->ns().getattr({}, {.id = *file})->attr.links, 2u);
  this->expect_consistent();
}

TYPED_TEST(ReplayTest, WhatWasRemovedOrMovedStaysWhateverHasItsNameNow) {
  const auto dir = this->mkdir(kRootId, "dir"), other = this->mkdir(kRootId, "other"),
             below = this->mkdir(*dir, "below");
  const auto file = this->create(*dir, "file"), moved = this->create(*dir, "moved");
  ASSERT_TRUE(dir && other && below && file && moved);
  const auto unlink = [&](std::uint64_t number) { return this->ns().unlink(this->request(number), {*dir, "file"}); };
  const auto rmdir = [&](std::uint64_t number) { return this->ns().rmdir(this->request(number), {*dir, "below"}); };
  const auto rename = [&](std::uint64_t number) {
    return this->ns().rename(this->request(number),
                             {.from_parent = *dir, .from_name = "moved", .to_parent = *other, .to_name = "to"});
  };
  ASSERT_TRUE(unlink(1) && rmdir(2) && rename(3));
  this->reopen();
  // Another client is quicker than the one that retransmits.
  const auto second = this->create(*dir, "file"), third = this->create(*dir, "moved");
  ASSERT_TRUE(second && third && this->mkdir(*dir, "below"));
  const auto again = unlink(1);
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(again->removed, *file);
  EXPECT_EQ(rmdir(2)->removed, *below);
  EXPECT_EQ(rename(3)->moved, *moved);
  EXPECT_EQ(this->entries(*dir), 3u);
  EXPECT_EQ(this->ns().lookup({}, {.parent = *other, .name = "to"})->attr.id, *moved);
  // Another request is one.
  EXPECT_EQ(unlink(4)->removed, *second);
  EXPECT_EQ(rename(5)->moved, *third);
  this->expect_consistent();
}

TYPED_TEST(ReplayTest, AttributesAreSetOnce) {
  const auto file = this->create(kRootId, "file");
  ASSERT_TRUE(file && this->write(*file, 0, "content"));
  const auto before = this->ns().getattr({}, {.id = *file})->attr.ctime;
  const auto chmod = [&](std::uint64_t number) {
    return this->ns().setattr(this->request(number), {.id = *file, .set = {.mode = 0600}, .guard_ctime = before});
  };
  const auto cut = [&] { return this->ns().setattr(this->request(2), {.id = *file, .set = {.size = 0}}); };
  ASSERT_TRUE(chmod(1) && cut());
  this->reopen();
  ASSERT_TRUE(this->write(*file, 0, "more"));
  const auto again = chmod(1);
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(again->attr.mode & 0777u, 0600u);
  EXPECT_EQ(chmod(3).error().code, Errc::kGuardMismatch);
  EXPECT_EQ(cut()->attr.size, 4u) << "what was written since stays";
  EXPECT_EQ(this->read(*file), "more");
}

TYPED_TEST(ReplayTest, ARequestIsKnownByWhatItDidToo) {
  const auto dir = this->mkdir(kRootId, "dir"), other = this->mkdir(kRootId, "other");
  ASSERT_TRUE(dir && other);
  ASSERT_TRUE(this->ns().mkdir(this->request(1), {.parent = *dir, .name = "a"}));
  this->reopen();
  EXPECT_EQ(this->ns().unlink(this->request(1), {*dir, "none"}).error().code, Errc::kNotFound);
  ASSERT_TRUE(this->ns().mkdir(this->request(1), {.parent = *other, .name = "a"}));
  EXPECT_EQ(this->entries(*other), 1u);
}

TYPED_TEST(ReplayTest, WhatIsGoneAgainIsStale) {
  const auto dir = this->mkdir(kRootId, "dir");
  const auto mkdir = [&] { return this->ns().mkdir(this->request(1), {.parent = *dir, .name = "a"}); };
  ASSERT_TRUE(mkdir());
  this->reopen();
  ASSERT_TRUE(this->ns().rmdir({}, {*dir, "a"}));
  EXPECT_EQ(mkdir().error().code, Errc::kStale);
  EXPECT_EQ(this->entries(*dir), 0u);
}

TYPED_TEST(ReplayTest, TheFailedAreRunAgain) {
  const auto dir = this->mkdir(kRootId, "dir");
  const auto unlink = [&] { return this->ns().unlink(this->request(1), {*dir, "file"}); };
  EXPECT_EQ(unlink().error().code, Errc::kNotFound);
  this->reopen();
  ASSERT_TRUE(this->create(*dir, "file"));
  EXPECT_TRUE(unlink());
}

TYPED_TEST(ReplayTest, OnlyTheNewestRecordsAreLookedAt) {
  const auto dir = this->mkdir(kRootId, "dir");
  ASSERT_TRUE(this->ns().mkdir(this->request(1), {.parent = *dir, .name = "old"}));
  for (std::uint64_t i = 0; i + 1 < FinishedRequests::kRecords; ++i) {
    ASSERT_TRUE(this->volume_->journal().append({.kind = ChangeKind::kRead, .id = *dir}, {}));
  }
  this->reopen();
  EXPECT_TRUE(this->ns().mkdir(this->request(1), {.parent = *dir, .name = "old"})) << "the last one that counts";
  ASSERT_TRUE(this->volume_->journal().append({.kind = ChangeKind::kRead, .id = *dir}, {}));
  this->reopen();
  EXPECT_EQ(this->ns().mkdir(this->request(1), {.parent = *dir, .name = "old"}).error().code, Errc::kExists);
}

}  // namespace
}  // namespace stoa::core::test
