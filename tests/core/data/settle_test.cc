// Changes whose durability a door asked to defer (OpContext::unsettled).
#include <thread>

#include "tests/core/data/data_fixture.h"
#include "tests/core/data/watched_blobs.h"

namespace stoa::core::test {
namespace {

constexpr std::size_t kBig = 100'000;  // not inline

struct WatchedTwin {
  static std::unique_ptr<BlobStore> open(const std::string& folder, MetricRegistry& metrics) {
    return std::make_unique<WatchedBlobs>(TwinBlobs::open(folder, metrics));
  }
  static constexpr bool kOnDisk = false;
};

class SettleTest : public DataTest<WatchedTwin> {
 protected:
  SettleTest() { deferring_.unsettled = &unsettled_; }
  WatchedBlobs& watched() { return static_cast<WatchedBlobs&>(*blobs_); }

  // A file with content that is written and not settled; its blob is the one that was reserved last.
  FileId written(std::string_view name) {
    const FileId id = create(name);
    const std::string bytes = text(kBig);
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
    EXPECT_TRUE(ns().write(deferring_, {id, 0, pieces}));
    return id;
  }

  Unsettled unsettled_;
  OpContext deferring_;
};

TEST_F(SettleTest, ManyWritesAreSyncedTogether) {
  const FileId first = written("first");
  const BlobId one = watched().last_reserved;
  const FileId second = written("second");
  const BlobId two = watched().last_reserved;
  EXPECT_TRUE(ns().write(deferring_, {first, kBig, {}}));
  ASSERT_TRUE(ns().commit(deferring_, {.id = second}));
  EXPECT_TRUE(watched().syncs.empty());

  ASSERT_TRUE(ns().settle(deferring_, unsettled_));
  ASSERT_FALSE(watched().syncs.empty());  // those behind the first one find their blobs clean
  std::ranges::sort(watched().syncs[0]);
  EXPECT_EQ(watched().syncs[0], (std::vector<BlobId>{std::min(one, two), std::max(one, two)}));
  // Committed, too: a later flush finds nothing to do.
  watched().syncs.clear();
  ASSERT_TRUE(volume_->flush());
  for (const std::vector<BlobId>& asked : watched().syncs) EXPECT_TRUE(asked.empty());
  reopen();
  EXPECT_EQ(read(first), text(kBig));
  EXPECT_EQ(read(second), text(kBig));
  expect_consistent();
}

TEST_F(SettleTest, AFileThatCannotBeSyncedFailsOnlyItsOwn) {
  const FileId sick = written("sick");
  watched().unsyncable = watched().last_reserved;
  const FileId sound = written("sound");
  EXPECT_EQ(ns().settle(deferring_, unsettled_).error().code, Errc::kIo);
  EXPECT_EQ(ns().settle(deferring_, {.files = {sick}}).error().code, Errc::kIo);
  EXPECT_TRUE(ns().settle(deferring_, {.ticket = unsettled_.ticket, .files = {sound}}));
  watched().unsyncable = kNoBlob;
  EXPECT_TRUE(ns().settle(deferring_, unsettled_));
  expect_consistent();
}

TEST_F(SettleTest, FilesThatAreGoneNeedNothing) {
  written("gone");
  ASSERT_TRUE(ns().unlink(durable_, {kRootId, "gone"}));
  EXPECT_TRUE(ns().settle(deferring_, unsettled_));
  EXPECT_TRUE(ns().settle(deferring_, {}));
}

TEST_F(SettleTest, WhatPromisesNothingLeavesNothingToSettle) {
  const FileId id = create("lazy");
  OpContext lazy = lazy_;
  lazy.unsettled = &unsettled_;
  const std::string bytes = text(kBig);
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
  ASSERT_TRUE(ns().write(lazy, {id, 0, pieces}));
  EXPECT_TRUE(unsettled_.empty());
}

// The large write has begun and has no blob yet: the file is still empty, but the small one must not make it inline.
TEST_F(SettleTest, ASmallWriteBesideTheFirstLargeOneGoesToBlobsToo) {
  const FileId id = create("f");
  bool written = false;
  watched().before_reserve = [&] {
    std::thread([&] { written = write(id, 0, text(100, 1)).has_value(); }).join();
  };
  ASSERT_TRUE(write(id, 50'000, text(50'000, 2)));
  ASSERT_TRUE(written);
  const auto expect_all = [&] {
    EXPECT_EQ(read(id, 0, 100), text(100, 1));
    EXPECT_EQ(read(id, 50'000, 50'000), text(50'000, 2));
  };
  expect_all();
  reopen();
  expect_all();
  expect_no_garbage();
}

}  // namespace
}  // namespace stoa::core::test
