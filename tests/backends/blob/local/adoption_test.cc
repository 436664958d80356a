// Blobs made before the store knows its blobs in use.
#include <set>

#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

class AdoptionTest : public StoreTest {
 protected:
  static constexpr std::uint64_t kSmall = 32u << 10;
  void open_unadopted() {
    store_.reset();
    metrics_ = std::make_unique<MetricRegistry>();
    auto opened = LocalBlobStore::open(options_, *metrics_);
    ASSERT_TRUE(opened) << describe(opened.error());
    store_ = std::move(*opened);
    EXPECT_TRUE(store_->begin_adoption());
  }
  std::vector<BlobId> fill(std::size_t count, std::uint64_t bytes, unsigned seed) {
    std::vector<BlobId> blobs;
    for (std::size_t i = 0; i < count; ++i) {
      blobs.push_back(reserve(bytes));
      EXPECT_TRUE(put(blobs.back(), 0, pattern(5000, seed + static_cast<unsigned>(i))));
    }
    EXPECT_TRUE(store_->sync(blobs));
    return blobs;
  }
  void expect_content(std::span<const BlobId> blobs, unsigned seed) {
    for (std::size_t i = 0; i < blobs.size(); ++i)
      EXPECT_EQ(get(blobs[i], 0, 5000), pattern(5000, seed + static_cast<unsigned>(i)));
  }
  void adopt(std::span<const BlobId> blobs) {
    for (const BlobId blob : blobs) EXPECT_TRUE(store_->adopt(blob));
  }
};

TEST_F(AdoptionTest, NewBlobsLieApartFromAllThatWasThere) {
  open();
  const auto small = fill(5, kSmall, 1), large = fill(3, kBig, 100);
  const auto unnamed = fill(2, kSmall, 200);
  open_unadopted();
  const auto new_small = fill(200, kSmall, 1000), new_large = fill(3, kBig, 2000);
  std::set<BlobId> all;
  for (const auto* const blobs : {&small, &large, &unnamed, &new_small, &new_large})
    all.insert(blobs->begin(), blobs->end());
  EXPECT_EQ(all.size(), 213U) << "no place was given twice";
  expect_content(small, 1);
  expect_content(large, 100);

  adopt(small);
  adopt(large);
  ASSERT_TRUE(store_->finish_adoption());
  EXPECT_EQ(store_->kept().blobs, 0U);
  for (const BlobId blob : unnamed) all.erase(blob);
  std::set<BlobId> held;
  store_->for_each([&](BlobId blob) { held.insert(blob); });
  EXPECT_EQ(held, all) << "what nobody named is freed, and nothing else";
  expect_content(small, 1);
  expect_content(large, 100);
  expect_content(new_small, 1000);
  expect_content(new_large, 2000);
}

TEST_F(AdoptionTest, PlacesOfBeforeAreUsedAgainWhenItIsOver) {
  open();
  const auto in_use = fill(1, kSmall, 1);
  const std::uint64_t container = BlobName::of(in_use[0]).number;
  open_unadopted();
  const BlobId apart = reserve(kSmall);
  EXPECT_GT(BlobName::of(apart).number, container);
  adopt(in_use);
  ASSERT_TRUE(store_->finish_adoption());
  const BlobId beside = reserve(kSmall);
  EXPECT_EQ(BlobName::of(beside).number, container);
  EXPECT_NE(beside, in_use[0]);
  expect_content(in_use, 1);
}

TEST_F(AdoptionTest, ALostContainerIsMissingAlsoWhenANewOneHasItsNumber) {
  open();
  open_unadopted();
  const BlobId made = reserve(kSmall);
  EXPECT_EQ(store_->adopt(made).error().code, Errc::kCorrupt);
  ASSERT_TRUE(store_->finish_adoption());
  EXPECT_TRUE(store_->holds(made));
}

TEST_F(AdoptionTest, ABlobThatIsInUseAndInTheQueueIsAdoptedTwice) {
  open();
  const auto small = fill(1, kSmall, 1), large = fill(1, kBig, 2);
  open_unadopted();
  for (int i = 0; i < 2; ++i) {
    adopt(small);
    adopt(large);
  }
  ASSERT_TRUE(store_->finish_adoption());
  for (const auto& directory : store_->health()) EXPECT_TRUE(directory.ok) << directory.problem;
  expect_content(small, 1);
  expect_content(large, 2);
}

}  // namespace
}  // namespace stoa::blob_local
