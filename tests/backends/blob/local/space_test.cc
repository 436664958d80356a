#include <sys/mount.h>

#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

using SpaceTest = StoreTest;

TEST_F(SpaceTest, RefusesNewBlobsWhenTheReserveIsReached) {
  open();
  io_.allocate_error = ENOSPC;
  EXPECT_EQ(store_->reserve(1000).error().code, Errc::kNoSpace);
  io_.allocate_error = 0;
  EXPECT_TRUE(store_->reserve(1000));
  EXPECT_TRUE(store_->health()[0].ok);  // full is not sick
}

TEST_F(SpaceTest, FullDirectoryLeavesTheWorkToTheOthers) {
  options_.directories.push_back(directory("d1"));
  open();
  std::set<std::uint32_t> used;
  for (int i = 0; i < 64; ++i) used.insert(BlobName::of(reserve(4 << 20)).directory);
  EXPECT_EQ(used.size(), 2u);
}

TEST_F(SpaceTest, FailingDirectoryGetsNoNewBlobsAndIsStillRead) {
  options_.directories.push_back(directory("d1"));
  open();
  BlobId victim = core::kNoBlob;
  while (victim == core::kNoBlob) {
    const BlobId blob = reserve(1000);
    if (BlobName::of(blob).directory == 1) victim = blob;
  }
  ASSERT_TRUE(put(victim, 0, pattern(100)));
  io_.write_error = EIO;
  EXPECT_EQ(put(victim, 0, pattern(100, 2)).error().code, Errc::kIo);
  io_.write_error = 0;
  EXPECT_FALSE(store_->health()[1].ok);
  EXPECT_FALSE(store_->health()[1].problem.empty());
  EXPECT_TRUE(store_->health()[0].ok);
  EXPECT_EQ(get(victim, 0, 100), pattern(100));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(BlobName::of(reserve(1000)).directory, 0u);
}

TEST_F(SpaceTest, NoHealthyDirectoryIsAnIoError) {
  open();
  const BlobId blob = reserve(1000);
  io_.write_error = EIO;
  EXPECT_FALSE(put(blob, 0, pattern(10)));
  EXPECT_EQ(store_->reserve(1000).error().code, Errc::kIo);
}

// A file system of 24 MiB, really full.
class TinyDiskTest : public StoreTest {
 protected:
  void SetUp() override {
    disk_ = directory("tiny");
    if (::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=24m") != 0) GTEST_SKIP() << "may not mount a tmpfs here";
    mounted_ = true;
    options_.directories = {disk_};
    options_.reserve_bytes = 1 << 20;
    open();
  }
  void TearDown() override {
    store_.reset();
    if (mounted_) ::umount2(disk_.c_str(), MNT_DETACH);
  }
  std::string disk_;
  bool mounted_ = false;
};

TEST_F(TinyDiskTest, ReserveFailsWhileThereIsStillRoomToFinish) {
  std::vector<BlobId> blobs;
  for (;;) {
    const auto blob = store_->reserve(1 << 20);
    if (!blob) {
      EXPECT_EQ(blob.error().code, Errc::kNoSpace);
      break;
    }
    blobs.push_back(*blob);
    ASSERT_LT(blobs.size(), 30u);
  }
  ASSERT_GE(blobs.size(), 8u);
  // A reserved blob can be written to the last byte.
  for (unsigned i = 0; i < blobs.size(); ++i) ASSERT_TRUE(put(blobs[i], 0, pattern(1 << 20, i)));
  ASSERT_TRUE(store_->sync(blobs));
  for (unsigned i = 0; i < blobs.size(); ++i) EXPECT_TRUE(get(blobs[i], 0, 1 << 20) == pattern(1 << 20, i));
  // And a released place can be used again.
  for (const BlobId blob : blobs) ASSERT_TRUE(store_->release(blob));
  EXPECT_TRUE(store_->reserve(1 << 20));
}

TEST_F(TinyDiskTest, OwnFileThatMeetsTheEndOfSpaceSaysSo) {
  const BlobId blob = reserve(kBig);
  Status done;
  std::uint64_t at = 0;
  for (; done && at < 64 << 20; at += done ? 1 << 20 : 0) done = put(blob, at, pattern(1 << 20));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::kNoSpace);
  EXPECT_GE(at, 8u << 20);
  EXPECT_TRUE(get(blob, 0, 1 << 20) == pattern(1 << 20));
  ASSERT_TRUE(store_->release(blob));
  EXPECT_TRUE(put(reserve(kBig), 0, pattern(4 << 20)));
}

}  // namespace
}  // namespace stoa::blob_local
