#include "backends/blob/local/blob_name.h"

#include <gtest/gtest.h>

namespace stoa::blob_local {
namespace {

TEST(BlobName, BitsOfPublishedNamesNeverChange) {
  EXPECT_EQ(static_cast<std::uint64_t>(BlobName{BlobKind::kSlot, 3, 7, 0x12345, 0x3f}.id()), 0x40dc00012345003full);
  EXPECT_EQ(static_cast<std::uint64_t>(BlobName{BlobKind::kOwn, 255, 0, 0xabcdef, 0}.id()), 0xbfc0000000abcdefull);
}

TEST(BlobName, WhatWasEncodedComesBack) {
  for (const BlobName name :
       {BlobName{BlobKind::kSlot, 0, 0, 1, 0}, BlobName{BlobKind::kSlot, 9, 7, kContainerNumberMax, 63},
        BlobName{BlobKind::kOwn, 1, 0, kOwnNumberMax, 0}}) {
    const BlobName back = BlobName::of(name.id());
    EXPECT_EQ(back.kind, name.kind);
    EXPECT_EQ(back.directory, name.directory);
    EXPECT_EQ(back.size_class, name.size_class);
    EXPECT_EQ(back.number, name.number);
    EXPECT_EQ(back.slot, name.slot);
  }
}

TEST(BlobName, ForeignBitsAreNoName) {
  EXPECT_EQ(BlobName::of(core::kNoBlob).kind, BlobKind::kNone);
  EXPECT_EQ(BlobName::of(core::BlobId{3ull << 62 | 5}).kind, BlobKind::kNone);
  EXPECT_EQ(BlobName::of(core::BlobId{1ull << 62 | 8ull << 50}).kind, BlobKind::kNone);       // no such size class
  EXPECT_EQ(BlobName::of(core::BlobId{1ull << 62 | 7ull << 50 | 64}).kind, BlobKind::kNone);  // no such slot
}

TEST(BlobName, SizeClassIsTheSmallestThatHolds) {
  EXPECT_EQ(size_class_for(0), 0u);
  EXPECT_EQ(size_class_for(32768), 0u);
  EXPECT_EQ(size_class_for(32769), 1u);
  EXPECT_EQ(size_class_for(4u << 20), 7u);
  EXPECT_EQ(size_class_for((4u << 20) + 1), kSizeClasses);
}

}  // namespace
}  // namespace stoa::blob_local
