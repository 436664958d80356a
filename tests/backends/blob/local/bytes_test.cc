#include <unistd.h>

#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

class BytesTest : public StoreTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    options_.direct_io = GetParam();
    open();
  }
};
// Not a fixture parameter of StoreTest itself: only the paths of bytes differ with O_DIRECT.
INSTANTIATE_TEST_SUITE_P(, BytesTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "Direct" : "Buffered"; });

TEST_P(BytesTest, NeverWrittenReadsAsZeros) {
  for (const std::uint64_t size : {std::uint64_t{1000}, std::uint64_t{4} << 20, kBig}) {
    const BlobId blob = reserve(size);
    EXPECT_TRUE(all_zero(get(blob, 0, 32768)));
    EXPECT_TRUE(all_zero(get(blob, 700, 31000)));
  }
  EXPECT_TRUE(all_zero(get(reserve(kBig), std::uint64_t{1} << 35, 100)));
}

TEST_P(BytesTest, LargeWritesOfAnyAlignmentComeBack) {
  const BlobId blob = reserve(kBig);
  std::vector<std::byte> twin(12 << 20);
  unsigned seed = 0;
  for (const std::uint64_t offset : {0u, 1u, 4095u, 4096u, 1u << 20, (1u << 20) + 7, (5u << 20) - 3}) {
    for (const std::size_t length : {std::size_t{1} << 20, (std::size_t{1} << 20) + 1, (std::size_t{3} << 20) + 4097}) {
      const auto bytes = pattern(length, ++seed);
      ASSERT_TRUE(put(blob, offset, bytes));
      std::ranges::copy(bytes, twin.begin() + static_cast<std::ptrdiff_t>(offset));
    }
  }
  EXPECT_TRUE(get(blob, 0, twin.size()) == twin);
}

TEST_P(BytesTest, ScatteredMemoryIsWrittenInOrder) {
  const BlobId blob = reserve(kBig);
  const auto bytes = pattern((2 << 20) + 11);
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t at = 0, step = 1; at < bytes.size(); at += step, step = step * 3 % 70001 + 1) {
    pieces.push_back(std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
  }
  ASSERT_TRUE(store_->write(blob, 5, pieces));
  EXPECT_TRUE(get(blob, 5, bytes.size()) == bytes);
}

TEST_P(BytesTest, SlotsDoNotTouchTheirNeighbours) {
  const BlobId a = reserve(1 << 20);
  const BlobId b = reserve(1 << 20);
  const BlobId c = reserve(1 << 20);
  ASSERT_TRUE(put(a, 0, pattern(1 << 20, 1)));
  ASSERT_TRUE(put(c, 0, pattern(1 << 20, 3)));
  ASSERT_TRUE(put(b, 0, pattern(1 << 20, 2)));
  EXPECT_TRUE(get(a, 0, 1 << 20) == pattern(1 << 20, 1));
  EXPECT_TRUE(get(b, 0, 1 << 20) == pattern(1 << 20, 2));
  EXPECT_TRUE(get(c, 0, 1 << 20) == pattern(1 << 20, 3));
}

TEST_P(BytesTest, BeyondTheCapacityIsRefused) {
  const BlobId blob = reserve(32768);
  EXPECT_EQ(put(blob, 32768, pattern(1)).error().code, Errc::kInvalid);
  EXPECT_EQ(put(blob, 1, pattern(32768)).error().code, Errc::kInvalid);
  EXPECT_TRUE(put(blob, 32767, pattern(1)));
}

TEST_P(BytesTest, PunchZeroesAndGivesSpaceBack) {
  for (const std::uint64_t size : {std::uint64_t{4} << 20, kBig}) {
    const BlobId blob = reserve(size);
    const auto bytes = pattern(4 << 20);
    ASSERT_TRUE(put(blob, 0, bytes));
    ASSERT_TRUE(store_->sync(std::array{blob}));
    const auto before = store_->allocated(blob, 4 << 20);
    ASSERT_TRUE(before);
    EXPECT_GE(*before, 4u << 20);
    ASSERT_TRUE(store_->punch(blob, 1000, (3 << 20)));
    EXPECT_TRUE(all_zero(get(blob, 1000, 3 << 20)));
    EXPECT_TRUE(std::ranges::equal(get(blob, 0, 1000), std::span(bytes).first(1000)));
    EXPECT_TRUE(
        std::ranges::equal(get(blob, (3 << 20) + 1000, 1000), std::span(bytes).subspan((3 << 20) + 1000, 1000)));
  }
}

TEST_P(BytesTest, SeekFindsDataAndHoles) {
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(put(blob, 1 << 20, pattern(4096)));
  constexpr std::uint64_t kEnd = 8 << 20;
  EXPECT_EQ(*store_->seek(blob, 0, kEnd, true), 1u << 20);
  EXPECT_EQ(*store_->seek(blob, 0, kEnd, false), 0u);
  EXPECT_EQ(*store_->seek(blob, 1 << 20, kEnd, false), (1u << 20) + 4096);
  EXPECT_EQ(*store_->seek(blob, (1 << 20) + 4096, kEnd, true), kEnd);
  EXPECT_EQ(*store_->seek(blob, 1 << 20, (1 << 20) + 10, false), (1u << 20) + 10);
}

TEST_P(BytesTest, SeekStaysWithinTheSlot) {
  const BlobId a = reserve(32768);
  const BlobId b = reserve(32768);
  ASSERT_TRUE(put(a, 0, pattern(32768)));
  ASSERT_TRUE(put(b, 0, pattern(32768)));
  EXPECT_EQ(*store_->seek(a, 0, 32768, false), 32768u);
  EXPECT_EQ(*store_->seek(a, 32768, 32768, true), 32768u);
}

TEST_P(BytesTest, SliceGivesTheSameBytesAndOutlivesTheBlob) {
  for (const std::uint64_t size : {std::uint64_t{1} << 20, kBig}) {
    const BlobId blob = reserve(size);
    const auto all = pattern(1 << 20);
    ASSERT_TRUE(put(blob, 0, all));
    const auto slice = store_->slice(blob, 100, 5000);
    ASSERT_TRUE(slice);
    std::vector<std::byte> bytes(slice->length);
    if (size == kBig) {
      ASSERT_TRUE(store_->release(blob));
    }
    ASSERT_EQ(::pread(slice->fd, bytes.data(), bytes.size(), static_cast<off_t>(slice->file_offset)), 5000);
    EXPECT_TRUE(std::ranges::equal(bytes, std::span(all).subspan(100, 5000)));
  }
}

TEST_P(BytesTest, SliceOfAHoleBehindTheHostFileIsWholeAndZero) {
  const BlobId blob = reserve(kBig);
  const auto slice = store_->slice(blob, 1 << 20, 4096);
  ASSERT_TRUE(slice);
  std::vector<std::byte> bytes(4096, std::byte{1});
  ASSERT_EQ(::pread(slice->fd, bytes.data(), bytes.size(), static_cast<off_t>(slice->file_offset)), 4096);
  EXPECT_TRUE(all_zero(bytes));
}

TEST_P(BytesTest, AllocateChangesNoBytes) {
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(put(blob, 10, pattern(100)));
  ASSERT_TRUE(store_->allocate(blob, 0, 1 << 20));
  EXPECT_EQ(get(blob, 10, 100), pattern(100));
  EXPECT_TRUE(all_zero(get(blob, 110, 100000)));
}

TEST_P(BytesTest, RefusedDirectWritesGoThroughThePageCache) {
  io_.direct_error = EINVAL;
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(put(blob, 3, pattern(3 << 20)));
  EXPECT_TRUE(get(blob, 3, 3 << 20) == pattern(3 << 20));
}

}  // namespace
}  // namespace stoa::blob_local
