#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

using LifeTest = StoreTest;

TEST_F(LifeTest, SmallBlobsAreSlotsAndBigOnesHaveAnOwnFile) {
  open();
  EXPECT_EQ(store_->capacity(reserve(1)), 32u << 10);
  EXPECT_EQ(store_->capacity(reserve(33 << 10)), 64u << 10);
  EXPECT_EQ(store_->capacity(reserve(4 << 20)), 4u << 20);
  EXPECT_EQ(store_->capacity(reserve((4 << 20) + 1)), (std::uint64_t{1} << 63) - 1);
}

TEST_F(LifeTest, AdoptedBlobsKeepTheirBytesAndAreNotGivenAgain) {
  open();
  const BlobId slot = reserve(1000);
  const BlobId own = reserve(kBig);
  ASSERT_TRUE(put(slot, 0, pattern(1000)));
  ASSERT_TRUE(put(own, 5'000'000, pattern(1000, 2)));
  ASSERT_TRUE(store_->sync(std::array{slot, own}));
  open({slot, own});
  EXPECT_EQ(get(slot, 0, 1000), pattern(1000));
  EXPECT_EQ(get(own, 5'000'000, 1000), pattern(1000, 2));
  for (int i = 0; i < 200; ++i) EXPECT_NE(reserve(1), slot);
}

TEST_F(LifeTest, WhatNobodyAdoptedIsFreeAgain) {
  open();
  const BlobId slot = reserve(1000);
  const BlobId own = reserve(kBig);
  ASSERT_TRUE(put(slot, 0, pattern(1000)));
  ASSERT_TRUE(put(own, 0, pattern(1000)));
  open();
  EXPECT_TRUE(listed().empty());
  EXPECT_FALSE(std::filesystem::exists(root_ / "d0/own" / "01" / "00000000000001"));
  EXPECT_EQ(host_files(root_ / "d0" / "slots"), 0u);
  EXPECT_EQ(host_files(root_ / "d0" / "own"), 0u);
}

TEST_F(LifeTest, SlotWrittenBeforeACrashReadsAsZerosWhenReservedAgain) {
  open();
  const BlobId kept = reserve(1000);
  const BlobId lost = reserve(1000);
  ASSERT_TRUE(put(lost, 0, pattern(32768)));
  ASSERT_TRUE(store_->sync(std::array{lost}));
  open({kept});
  for (int i = 0; i < 127; ++i) {
    const BlobId again = reserve(1000);
    EXPECT_TRUE(all_zero(get(again, 0, 32768)));
  }
}

TEST_F(LifeTest, ReleasedSlotReadsAsZerosWhenReservedAgain) {
  open();
  std::set<BlobId> first;
  for (int i = 0; i < 128; ++i) {
    const BlobId blob = reserve(1000);
    ASSERT_TRUE(put(blob, 0, pattern(32768, static_cast<unsigned>(i))));
    first.insert(blob);
  }
  for (const BlobId blob : first) ASSERT_TRUE(store_->release(blob));
  int reused = 0;
  for (int i = 0; i < 128; ++i) {
    const BlobId blob = reserve(1000);
    reused += first.contains(blob);
    EXPECT_TRUE(all_zero(get(blob, 0, 32768)));
  }
  EXPECT_EQ(reused, 128);
}

TEST_F(LifeTest, ReleaseIsIdempotent) {
  open();
  const BlobId slot = reserve(1000);
  const BlobId own = reserve(kBig);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(store_->release(slot));
    EXPECT_TRUE(store_->release(own));
  }
  EXPECT_TRUE(listed().empty());
}

TEST_F(LifeTest, NumberOfAnOwnFileIsNeverUsedAgain) {
  open();
  const BlobId first = reserve(kBig);
  ASSERT_TRUE(store_->release(first));
  EXPECT_NE(reserve(kBig), first);
  open();
  for (int i = 0; i < 10; ++i) EXPECT_NE(reserve(kBig), first);
}

TEST_F(LifeTest, EmptyContainersAreRemoved) {
  open();
  std::vector<BlobId> blobs;
  for (std::uint32_t i = 0; i < 3 * slots_per_container(7); ++i) blobs.push_back(reserve(4 << 20));
  EXPECT_EQ(host_files(root_ / "d0" / "slots" / "7"), 3u);
  for (const BlobId blob : blobs) ASSERT_TRUE(store_->release(blob));
  EXPECT_EQ(host_files(root_ / "d0" / "slots" / "7"), 1u);
  open();
  EXPECT_EQ(host_files(root_ / "d0" / "slots" / "7"), 0u);
}

TEST_F(LifeTest, ForEachListsWhatTakesSpace) {
  open();
  std::set<BlobId> all;
  for (int i = 0; i < 5; ++i) all.insert(reserve(1000)), all.insert(reserve(kBig)), all.insert(reserve(1 << 20));
  EXPECT_EQ(listed(), all);
}

TEST_F(LifeTest, AdoptRefusesForeignPlaces) {
  MetricRegistry metrics;
  auto store = LocalBlobStore::open(options_, metrics);
  ASSERT_TRUE(store);
  EXPECT_EQ((*store)->adopt(core::kNoBlob).error().code, Errc::kCorrupt);
  EXPECT_EQ((*store)->adopt(BlobName{BlobKind::kSlot, 0, 0, 9, 0}.id()).error().code, Errc::kCorrupt);
  EXPECT_EQ((*store)->adopt(BlobName{BlobKind::kOwn, 7, 0, 9, 0}.id()).error().code, Errc::kCorrupt);
}

TEST_F(LifeTest, BlobWhoseHostFileIsGoneIsCorrupt) {
  const BlobId missing = BlobName{BlobKind::kOwn, 0, 0, 99, 0}.id();
  open({missing});
  std::byte byte{};
  EXPECT_EQ(store_->read(missing, 0, std::span(&byte, 1)).error().code, Errc::kCorrupt);
  EXPECT_EQ(store_->sync(std::array{missing}).error().code, Errc::kCorrupt);
  EXPECT_TRUE(store_->release(missing));
}

TEST_F(LifeTest, OpenFilesAreBoundedAndClosedOnesComeBack) {
  options_.open_files_max = 16;
  open();
  std::vector<BlobId> blobs;
  for (unsigned i = 0; i < 100; ++i) {
    blobs.push_back(reserve(kBig));
    ASSERT_TRUE(put(blobs.back(), 0, pattern(100, i)));
  }
  EXPECT_LE(metrics_->gauge("stoa_blob_open_files", "").value(), 16);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(get(blobs[i], 0, 100), pattern(100, i));
  EXPECT_TRUE(store_->sync(blobs));
}

}  // namespace
}  // namespace stoa::blob_local
