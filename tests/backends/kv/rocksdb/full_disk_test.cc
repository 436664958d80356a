// The metadata database on a disk filled by another process.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <chrono>
#include <functional>
#include <thread>

#include "backends/kv/rocksdb/disk_reserve.h"
#include "backends/kv/rocksdb/rocks_kv.h"
#include "tests/small_disk.h"

namespace stoa::kv {
namespace {

using core::Family;
using core::WriteBatch;

constexpr std::uint64_t kDiskBytes = 128u << 20;

bool becomes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

class FullDiskTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) GTEST_SKIP() << disk_.why_not();
    open();
  }
  void open() {
    kv_.reset();
    auto opened =
        open_rocks({.path = disk_.path() + "/meta", .create = true, .zeroed_log_bytes = 32u << 20, .reserve = true});
    ASSERT_TRUE(opened) << describe(opened.error());
    kv_ = std::move(*opened);
  }
  Status apply(const WriteBatch& batch, bool sync = true) {
    const WriteBatch* const batches[] = {&batch};
    STOA_CHECK_OK(kv_->apply(batches));
    return sync ? kv_->sync() : Status();
  }
  static std::string value(int i) {
    static const std::string noise = [] {
      std::string bytes(1 << 20, '\0');
      std::uint32_t state = 1;
      for (char& c : bytes) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
      return bytes;
    }();
    constexpr std::size_t kBytes = 8000;
    return std::to_string(i) + noise.substr(static_cast<std::size_t>(i) * 1009 % (noise.size() - kBytes), kBytes);
  }
  Status put(int i, Family family = Family::kInode) {
    WriteBatch batch;
    batch.put(family, std::to_string(i), value(i));
    return apply(batch, i % 8 == 0);
  }
  Status remove(int i, Family family = Family::kInode) {
    WriteBatch batch;
    batch.remove(family, std::to_string(i));
    return apply(batch, i % 8 == 0);
  }
  // As the core does: grows while it may.
  int grow(Family family = Family::kInode) {
    int i = 0;
    while (kv_->has_room() && i < 100'000) {
      const Status done = put(i, family);
      EXPECT_TRUE(done) << describe(done.error());
      if (!done) break;
      ++i;
    }
    return i;
  }
  void expect_there(int from, int to, Family family = Family::kInode) {
    for (int i = from; i < to; ++i) {
      std::string found;
      const auto got = kv_->get(family, std::to_string(i), &found);
      ASSERT_TRUE(got) << describe(got.error());
      ASSERT_TRUE(*got) << i;
      ASSERT_EQ(found, value(i)) << i;
    }
  }

  test::SmallDisk disk_{kDiskBytes};
  std::unique_ptr<core::KvStore> kv_;
};

TEST_F(FullDiskTest, HoldsAReserveFromTheStart) {
  const auto disk = kv_->disk();
  ASSERT_TRUE(disk);
  EXPECT_EQ(disk->reserve, disk->reserve_wanted);
  EXPECT_GT(disk->reserve, kDiskBytes / 10);
  EXPECT_FALSE(disk->low);
  EXPECT_LT(disk_.free(), kDiskBytes - disk->reserve);
}

TEST_F(FullDiskTest, GrowthEndsInTimeRemovalsFitAndRoomComesBack) {
  for (const Family family : {Family::kInode, Family::kInline}) {
    const int count = grow(family);
    EXPECT_GT(count, 50);  // at least the number between the two marks
    expect_there(0, count, family);
    disk_.fill_but(0);
    open();  // a start while it is full
    expect_there(0, count, family);
    // No space is left for other processes.
    disk_.fill_but(0);
    for (int i = 0; i < count; ++i) {
      const Status done = remove(i, family);
      ASSERT_TRUE(done) << i << " of " << count << ": " << describe(done.error());
    }
    disk_.give_back();
    EXPECT_TRUE(becomes_true([&] { return kv_->has_room(); }));
    ASSERT_TRUE(put(1, family));
    expect_there(1, 2, family);
    ASSERT_TRUE(remove(1, family));
  }
}

TEST_F(FullDiskTest, RemovalsReclaimSpaceWhileSomebodyElseHasTheRest) {
  const int count = grow();
  disk_.fill_but(0);
  for (int i = 0; i < count; ++i) {
    const Status done = remove(i);
    ASSERT_TRUE(done) << i << " of " << count << ": " << describe(done.error());
  }
  EXPECT_TRUE(becomes_true([&] { return kv_->has_room(); }));
}

// Without a check for room: the database meets the full disk.
TEST_F(FullDiskTest, WhatHadNoRoomIsToldAndTheDatabaseGoesOnWhenThereIsSome) {
  disk_.fill_but(0);
  int i = 0;
  Status failed;
  for (; i < 100'000 && failed; ++i) failed = put(i);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kNoSpace) << describe(failed.error());
  const int refused = i - 1;
  // Space freed by a compaction meanwhile may be enough.
  failed = put(refused);
  EXPECT_TRUE(failed || failed.error().code == Errc::kNoSpace) << describe(failed.error());
  expect_there(0, refused / 8 * 8 - 8);
  disk_.give_back();
  EXPECT_TRUE(becomes_true([&] { return bool(failed = put(refused)); })) << describe(failed.error());
  ASSERT_TRUE(kv_->sync());
  expect_there(0, refused + 1);
  EXPECT_TRUE(becomes_true([&] { return kv_->has_room(); }));
  open();
  expect_there(0, refused + 1);
}

TEST_F(FullDiskTest, StartsWithoutAnyRoomAndWithoutItsReserve) {
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(put(i));
  ASSERT_TRUE(kv_->sync());
  disk_.fill_but(0);
  open();
  expect_there(0, 500);
  disk_.fill_but(0);  // also space freed by a start: old logs
  EXPECT_TRUE(becomes_true([&] { return !kv_->has_room(); }));
  disk_.give_back();
  EXPECT_TRUE(becomes_true([&] { return kv_->has_room(); }));
}

}  // namespace
}  // namespace stoa::kv
