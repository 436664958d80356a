#include "tests/backends/blob/local/fixture.h"

namespace stoa::blob_local {
namespace {

using DurabilityTest = StoreTest;

TEST_F(DurabilityTest, CleanFilesAreNotSyncedAgain) {
  open();
  const BlobId blob = reserve(kBig);
  ASSERT_TRUE(put(blob, 0, pattern(10)));
  ASSERT_TRUE(store_->sync(std::array{blob}));
  const int before = io_.syncs;
  ASSERT_TRUE(store_->sync(std::array{blob}));
  EXPECT_EQ(io_.syncs, before);
  ASSERT_TRUE(put(blob, 0, pattern(10)));
  ASSERT_TRUE(store_->sync(std::array{blob}));
  EXPECT_EQ(io_.syncs, before + 1);
}

TEST_F(DurabilityTest, NameOfANewFileIsSyncedWithIt) {
  open();
  const BlobId blob = reserve(kBig);
  const int before = io_.directory_syncs;
  ASSERT_TRUE(put(blob, 0, pattern(10)));
  ASSERT_TRUE(store_->sync(std::array{blob}));
  EXPECT_EQ(io_.directory_syncs, before + 1);
  ASSERT_TRUE(put(blob, 0, pattern(10)));
  ASSERT_TRUE(store_->sync(std::array{blob}));
  EXPECT_EQ(io_.directory_syncs, before + 1);
}

TEST_F(DurabilityTest, PunchAllocateAndReserveCountAsWrites) {
  open();
  const BlobId blob = reserve(1000);
  int before = io_.syncs;
  ASSERT_TRUE(store_->sync(std::array{blob}));
  EXPECT_EQ(io_.syncs, before + 1);
  ASSERT_TRUE(store_->punch(blob, 0, 100));
  ASSERT_TRUE(store_->sync(std::array{blob}));
  EXPECT_EQ(io_.syncs, before + 2);
  ASSERT_TRUE(store_->allocate(blob, 0, 100));
  ASSERT_TRUE(store_->sync(std::array{blob}));
  EXPECT_EQ(io_.syncs, before + 3);
}

TEST_F(DurabilityTest, ManyBlobsOfOneContainerAreOneSync) {
  open();
  std::vector<BlobId> blobs;
  for (int i = 0; i < 50; ++i) {
    blobs.push_back(reserve(1000));
    ASSERT_TRUE(put(blobs.back(), 0, pattern(10)));
  }
  const int before = io_.syncs;
  ASSERT_TRUE(store_->sync(blobs));
  EXPECT_EQ(io_.syncs, before + 1);
}

TEST_F(DurabilityTest, FailedSyncIsNeverForgotten) {
  open();
  const BlobId blob = reserve(kBig);
  const BlobId other = reserve(kBig);
  ASSERT_TRUE(put(blob, 0, pattern(10)));
  ASSERT_TRUE(put(other, 0, pattern(10)));
  ASSERT_TRUE(store_->sync(std::array{other}));
  io_.sync_error = EIO;
  EXPECT_EQ(store_->sync(std::array{blob}).error().code, Errc::kIo);
  io_.sync_error = 0;
  // The kernel reports the pages as clean now: a retry would find nothing to do and lie.
  EXPECT_EQ(store_->sync(std::array{blob}).error().code, Errc::kIo);
  EXPECT_EQ(put(blob, 0, pattern(10)).error().code, Errc::kIo);
  EXPECT_FALSE(store_->health()[0].ok);
  EXPECT_TRUE(store_->sync(std::array{other}));
}

TEST_F(DurabilityTest, OneFailureAmongManyIsReported) {
  open();
  std::vector<BlobId> blobs;
  for (int i = 0; i < 20; ++i) {
    blobs.push_back(reserve(kBig));
    ASSERT_TRUE(put(blobs.back(), 0, pattern(10)));
  }
  io_.sync_error = ENOSPC;
  EXPECT_EQ(store_->sync(blobs).error().code, Errc::kNoSpace);
  io_.sync_error = 0;
  EXPECT_FALSE(store_->sync(blobs));
}

}  // namespace
}  // namespace stoa::blob_local
