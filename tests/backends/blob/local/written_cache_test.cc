// Recent writes are read from memory as they are on the disk, or not at all.
#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

constexpr std::size_t kMiB = 1u << 20;
constexpr std::uint64_t kBig = 64u << 20;

class WrittenCacheTest : public StoreTest {
 protected:
  WrittenCacheTest() {
    options_.written_cache_bytes = 8 * kMiB;
    open();
  }
  // As a front end does with received data.
  Status lend(BlobId blob, std::uint64_t offset, const std::vector<std::byte>& bytes) {
    const auto memory = std::make_shared<const std::vector<std::byte>>(bytes);
    return store_->write_lent(blob, offset, *memory, {memory, std::max<std::size_t>(bytes.size(), kMiB)});
  }
  // From memory; empty when not all of it is there.
  std::vector<std::byte> kept(BlobId blob, std::uint64_t offset, std::uint64_t length) {
    std::vector<std::byte> bytes;
    for (const core::DataSlice& slice : store_->lately_written(blob, offset, length)) {
      EXPECT_EQ(slice.length, slice.bytes.size());
      bytes.insert(bytes.end(), slice.bytes.begin(), slice.bytes.end());
    }
    return bytes;
  }
  bool is_kept(BlobId blob, std::uint64_t offset, std::uint64_t length) {
    return !store_->lately_written(blob, offset, length).empty();
  }
};

TEST_F(WrittenCacheTest, ALargeWriteIsKeptAndASmallOneIsNot) {
  const BlobId blob = reserve(kBig);
  const auto bytes = pattern(2 * kMiB);
  ASSERT_TRUE(lend(blob, 0, bytes));
  EXPECT_EQ(kept(blob, 0, 2 * kMiB), bytes);
  EXPECT_EQ(kept(blob, kMiB - 3, 7), std::vector(bytes.begin() + kMiB - 3, bytes.begin() + kMiB + 4));
  EXPECT_FALSE(is_kept(blob, 0, 2 * kMiB + 1));
  EXPECT_FALSE(is_kept(blob, 0, 0));
  ASSERT_TRUE(lend(blob, 4 * kMiB, pattern(4096)));
  EXPECT_FALSE(is_kept(blob, 4 * kMiB, 4096));
  EXPECT_FALSE(is_kept(reserve(kBig), 0, 1));
}

TEST_F(WrittenCacheTest, WritesThatMeetAreReadTogether) {
  const BlobId blob = reserve(kBig);
  const auto bytes = pattern(3 * kMiB);
  const std::size_t lengths[] = {512u << 10, 700'001, kMiB, 3 * kMiB - (512u << 10) - 700'001 - kMiB};
  std::size_t at = 0;
  for (const std::size_t length : lengths) {
    ASSERT_TRUE(lend(
        blob, at,
        {bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(at + length)}));
    at += length;
  }
  EXPECT_EQ(kept(blob, 0, 3 * kMiB), bytes);
  EXPECT_FALSE(is_kept(blob, 3 * kMiB - 1, 2));
}

TEST_F(WrittenCacheTest, WhatIsNotLentIsForgottenAndNotKept) {
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(lend(blob, 0, pattern(kMiB)));
  ASSERT_TRUE(put(blob, 0, pattern(kMiB, 2)));
  EXPECT_FALSE(is_kept(blob, 0, 1));
}

TEST_F(WrittenCacheTest, WhatChangesIsForgotten) {
  const BlobId blob = reserve(kBig);
  const auto fill = [&] { ASSERT_TRUE(lend(blob, 0, pattern(kMiB))); };
  fill();
  ASSERT_TRUE(lend(blob, 100, pattern(1, 2)));
  EXPECT_FALSE(is_kept(blob, 0, kMiB));
  fill();
  ASSERT_TRUE(store_->punch(blob, 0, 1));
  EXPECT_FALSE(is_kept(blob, 0, 1));
  fill();
  EXPECT_TRUE(is_kept(blob, 0, kMiB));
  io_.write_error = EIO;
  EXPECT_FALSE(lend(blob, 0, pattern(kMiB, 3)));
  io_.write_error = 0;
  EXPECT_FALSE(is_kept(blob, 0, kMiB));
}

TEST_F(WrittenCacheTest, WhatIsReleasedIsForgottenAlsoWhenItsPlaceServesAnother) {
  for (const std::uint64_t size : {std::uint64_t{kMiB}, kBig}) {
    const BlobId blob = reserve(size);
    ASSERT_TRUE(lend(blob, 0, pattern(kMiB)));
    ASSERT_TRUE(is_kept(blob, 0, kMiB));
    ASSERT_TRUE(store_->release(blob));
    EXPECT_FALSE(is_kept(blob, 0, kMiB));
  }
}

TEST_F(WrittenCacheTest, NothingIsGivenOnceASyncHasFailed) {
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(lend(blob, 0, pattern(kMiB)));
  io_.sync_error = EIO;
  EXPECT_FALSE(store_->sync(std::span(&blob, 1)));
  EXPECT_FALSE(is_kept(blob, 0, kMiB));
}

TEST_F(WrittenCacheTest, TheOldestGiveWayAndWhatAReaderHoldsStays) {
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(lend(blob, 0, pattern(kMiB, 1)));
  const auto held = store_->lately_written(blob, 0, kMiB);
  for (std::size_t i = 1; i < 20; ++i) ASSERT_TRUE(lend(blob, i * kMiB, pattern(kMiB, static_cast<unsigned>(i) + 1)));
  EXPECT_FALSE(is_kept(blob, 0, 1));
  EXPECT_EQ(kept(blob, 19 * kMiB, kMiB), pattern(kMiB, 20));
  EXPECT_TRUE(std::ranges::equal(held.front().bytes, pattern(kMiB, 1)));
  std::size_t count = 0;
  for (std::size_t i = 0; i < 20; ++i) count += is_kept(blob, i * kMiB, kMiB) ? 1 : 0;
  EXPECT_EQ(count, 8u);
}

TEST_F(WrittenCacheTest, WithoutMemoryNothingIsKept) {
  options_.written_cache_bytes = 0;
  open();
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(lend(blob, 0, pattern(kMiB)));
  EXPECT_FALSE(is_kept(blob, 0, 1));
}

TEST_F(WrittenCacheTest, WhatIsGivenIsWhatTheDiskHoldsAfterAnyChanges) {
  std::mt19937 random(7);
  const BlobId blobs[] = {reserve(kBig), reserve(kBig), reserve(4 * kMiB)};
  std::size_t given = 0;
  for (int i = 0; i < 600; ++i) {
    const BlobId blob = blobs[random() % 3];
    const std::uint64_t offset =
        random() % (random() % 2 ? 2 * kMiB : 3) / (random() % 2 ? 1 : 4096) * (random() % 2 ? 1 : 4096) % (2 * kMiB);
    const std::size_t length = random() % 3 ? random() % (2 * kMiB) : random() % 5000;
    if (random() % 5 == 0) {
      ASSERT_TRUE(store_->punch(blob, offset, length));
    } else {
      ASSERT_TRUE(lend(blob, offset, pattern(length, random())));
    }
    const std::uint64_t at = random() % (2 * kMiB);
    const std::size_t size = 1 + random() % (2 * kMiB);
    const auto memory = kept(blob, at, size);
    if (memory.empty()) continue;
    ++given;
    const auto disk = get(blob, at, size);
    ASSERT_EQ(std::memcmp(memory.data(), disk.data(), size), 0) << i;
  }
  EXPECT_GT(given, 10u);
}

TEST_F(WrittenCacheTest, WhoWritesAtTheSameTimeLeavesWhatTheDiskHoldsOrNothing) {
  const BlobId blob = reserve(kBig);
  const auto one = pattern(kMiB, 1), two = pattern(kMiB, 2);
  for (int round = 0; round < 40; ++round) {
    {
      std::jthread first([&] { EXPECT_TRUE(lend(blob, 0, one)); });
      std::jthread second([&] { EXPECT_TRUE(lend(blob, round % 2 == 0 ? 0 : 4096, two)); });
      std::jthread reader([&] {
        const auto memory = kept(blob, 4096, 4096);
        const auto is = [&](const std::vector<std::byte>& bytes, std::size_t at) {
          return std::memcmp(memory.data(), bytes.data() + at, 4096) == 0;
        };
        EXPECT_TRUE(memory.empty() || is(one, 4096) || is(two, 4096) || is(two, 0));
      });
    }
    const auto memory = kept(blob, 0, kMiB);
    if (!memory.empty()) {
      ASSERT_EQ(memory, get(blob, 0, kMiB)) << round;
    }
  }
}

}  // namespace
}  // namespace stoa::blob_local
