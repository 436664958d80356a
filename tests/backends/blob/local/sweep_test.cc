// The sweep at a start: unnamed content that it frees, and content that it keeps.
#include "backends/blob/local/sweep.h"

#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

class SweepTest : public StoreTest {
 protected:
  // Blobs with distinct bytes, safe on the disk.
  std::vector<BlobId> fill(std::size_t count, std::uint64_t bytes, unsigned seed) {
    std::vector<BlobId> blobs;
    for (std::size_t i = 0; i < count; ++i) {
      blobs.push_back(reserve(bytes));
      EXPECT_TRUE(put(blobs.back(), 0, pattern(5000, seed + static_cast<unsigned>(i))));
    }
    EXPECT_TRUE(store_->sync(blobs));
    return blobs;
  }
  void open_with(std::span<const BlobId> in_use) {
    store_.reset();
    metrics_ = std::make_unique<MetricRegistry>();
    auto opened = LocalBlobStore::open(options_, *metrics_);
    ASSERT_TRUE(opened) << describe(opened.error());
    store_ = std::move(*opened);
    for (const BlobId blob : in_use) ASSERT_TRUE(store_->adopt(blob));
    ASSERT_TRUE(store_->finish_adoption());
  }
  void expect_content(std::span<const BlobId> blobs, unsigned seed) {
    for (std::size_t i = 0; i < blobs.size(); ++i)
      EXPECT_EQ(get(blobs[i], 0, 5000), pattern(5000, seed + static_cast<unsigned>(i)));
  }
};

TEST_F(SweepTest, WhatACrashLeavesIsFreed) {
  open();
  fill(kSweptBlobs, kBig, 1);
  open_with({});
  EXPECT_EQ(store_->kept().blobs, 0u);
  EXPECT_TRUE(listed().empty());
}

TEST_F(SweepTest, OfManyASmallPartIsFreed) {
  open();
  const auto in_use = fill(kSweptPart * 80, 32u << 10, 1);
  fill(75, 32u << 10, 7000);
  open_with(in_use);
  EXPECT_EQ(store_->kept().blobs, 0u);
  EXPECT_EQ(listed().size(), in_use.size());
  expect_content(in_use, 1);
}

TEST_F(SweepTest, MoreIsKeptAndItsPlacesAreNotUsedAgain) {
  open();
  const auto in_use = fill(10, 32u << 10, 1);
  auto lost = fill(kSweptSmallBlobs, 32u << 10, 1000);
  const auto large = fill(40, kBig, 1000 + kSweptSmallBlobs);
  lost.insert(lost.end(), large.begin(), large.end());
  open_with(in_use);
  EXPECT_EQ(store_->kept().blobs, lost.size());
  EXPECT_GE(store_->kept().bytes, lost.size() * 5000);
  EXPECT_EQ(listed().size(), in_use.size() + lost.size());
  fill(300, 32u << 10, 2000);
  fill(20, kBig, 3000);
  // The metadata are back.
  std::vector<BlobId> all = in_use;
  all.insert(all.end(), lost.begin(), lost.end());
  options_.sweep_all = true;
  open_with(all);
  expect_content(in_use, 1);
  expect_content(lost, 1000);
}

TEST_F(SweepTest, AllOfItGoesOnRequest) {
  open();
  const auto in_use = fill(10, 32u << 10, 1);
  fill(kSweptSmallBlobs, 32u << 10, 1000);
  fill(100, kBig, 9000);
  options_.sweep_all = true;
  open_with(in_use);
  EXPECT_EQ(store_->kept().blobs, 0u);
  EXPECT_EQ(listed().size(), in_use.size());
  expect_content(in_use, 1);
  // And is not found again.
  options_.sweep_all = false;
  open_with(in_use);
  EXPECT_EQ(store_->kept().blobs, 0u);
}

TEST(SweepBoundTest, CountsBlobsAndBytes) {
  EXPECT_FALSE(is_much(kSweptBlobs, kSweptBytes, kSweptBlobs, kSweptBytes));
  EXPECT_FALSE(is_much(kSweptBlobs + 1, kSweptSmallBytes, kSweptBlobs + 1, kSweptSmallBytes));
  EXPECT_TRUE(is_much(kSweptBlobs + 1, kSweptSmallBytes + 1, kSweptBlobs + 1, kSweptSmallBytes + 1));
  EXPECT_FALSE(is_much(kSweptSmallBlobs, 0, kSweptSmallBlobs, 0));
  EXPECT_TRUE(is_much(kSweptSmallBlobs + 1, 0, kSweptSmallBlobs + 1, 0));
  EXPECT_FALSE(is_much(2000, 0, 32000, 0));
  EXPECT_TRUE(is_much(2001, 0, 32000, 0));
  EXPECT_FALSE(is_much(1, kSweptBytes, 1, kSweptBytes));
  EXPECT_TRUE(is_much(1, kSweptBytes + 1, 100, kSweptBytes + 1));
  EXPECT_FALSE(is_much(1, 2 * kSweptBytes, 100, 32 * kSweptBytes));
}

}  // namespace
}  // namespace stoa::blob_local
