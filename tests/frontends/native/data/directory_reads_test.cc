#include "frontends/native/data/directory_reads.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoa::native::data {
namespace {

constexpr std::uint64_t kSmall = 64 * 1024 * 1024;  // a directory is small up to here
constexpr std::size_t kFew = 100, kMany = 1'000'000;

using Taken = std::vector<std::unique_ptr<FileAhead>>;

// Takes all that may be taken, in files of this size, and at least one in each piece.
Taken take_all(const std::shared_ptr<DirectoryReads>& reads, std::size_t entries, std::uint64_t size) {
  Taken taken;
  while (const std::uint64_t most = reads->may_take(entries, kSmall)) {
    for (std::uint64_t cost = 0; cost == 0 || cost + reads->cost(size) <= most; cost += reads->cost(size)) {
      taken.push_back(std::make_unique<FileAhead>(reads, size));
    }
  }
  return taken;
}

std::shared_ptr<DirectoryReads> after_reads(int count, std::uint64_t size = 4096) {
  auto reads = std::make_shared<DirectoryReads>();
  for (int i = 0; i < count; ++i) {
    if (reads->seen(size, false)) reads->end();
  }
  return reads;
}

TEST(DirectoryReads, FourReadsAreWorthAMessage) {
  DirectoryReads reads;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(reads.seen(4096, false));
  EXPECT_EQ(reads.may_take(kFew, kSmall), 0u);
  EXPECT_TRUE(reads.seen(4096, false));
  EXPECT_GE(reads.may_take(kFew, kSmall), DirectoryReads::kFileBytesMost) << "the largest small file";
  EXPECT_EQ(reads.mean_cost(), 8192u);
}

TEST(DirectoryReads, OneThreadIsAtWorkAtATime) {
  DirectoryReads reads;
  int told = 0;
  for (int i = 0; i < 20; ++i) told += reads.seen(4096, false) ? 1 : 0;
  EXPECT_EQ(told, 1);
  reads.end();
  EXPECT_TRUE(reads.seen(4096, false));
}

TEST(DirectoryReads, WhatIsOfUseIsDoneMoreAndMore) {
  const auto reads = after_reads(4);
  std::size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    auto taken = take_all(reads, kMany, 4096);
    EXPECT_GT(taken.size(), before);
    before = taken.size();
    for (const auto& one : taken) {
      one->use();
      if (reads->seen(4096, true)) reads->end();
    }
  }
}

TEST(DirectoryReads, WhatNobodyReadsEndsIt) {
  const auto reads = after_reads(4);
  take_all(reads, kMany, 4096).clear();  // all of it is wasted, and costs as much again
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(reads->seen(4096, false));
  EXPECT_EQ(reads->may_take(kMany, kSmall), 0u);
  int more = 0;
  while (more < 100 && !reads->seen(4096, false)) ++more;
  EXPECT_LE(more, 5) << "after some reads it is tried again";
}

TEST(DirectoryReads, OfALargeDirectoryAWindowIsRead) {
  const auto reads = after_reads(200);
  Taken all;
  for (int round = 0; round < 100; ++round) {
    for (auto& one : take_all(reads, kMany, 4096)) all.push_back(std::move(one));
    for (int i = 0; i < 50; ++i) (void)reads->seen(4096, false);
  }
  EXPECT_LE(all.size(), (DirectoryReads::kWindowMost + DirectoryReads::kPieceMost) / 8192);
  EXPECT_NE(reads->may_take(kFew, kSmall), 0u) << "a small one is taken whole";
  EXPECT_EQ(reads->may_take(kMany, kSmall), 0u);
  for (std::size_t i = 0; i < all.size(); i += 2) all[i]->use();
  EXPECT_NE(reads->may_take(kMany, kSmall), 0u);
}

TEST(DirectoryReads, ALookThatFindsNothingHasToBeEarnedAgain) {
  const auto reads = after_reads(50);
  reads->found_nothing();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(reads->seen(4096, false));
  EXPECT_TRUE(reads->seen(4096, false));
}

TEST(DirectoryReads, ReadsElsewhereAreNoticed) {
  DirectoryReads reads;
  for (int i = 0; i < 7; ++i) (void)reads.seen(4096, false);
  EXPECT_FALSE(reads.is_lost());
  (void)reads.seen(4096, false);
  EXPECT_TRUE(reads.is_lost());
  (void)reads.seen(4096, true);
  EXPECT_FALSE(reads.is_lost());
}

TEST(DirectoryReads, LargeFilesAreFewer) {
  const auto reads = after_reads(4, DirectoryReads::kFileBytesMost);
  EXPECT_EQ(take_all(reads, kMany, DirectoryReads::kFileBytesMost).size(), 1u);
}

}  // namespace
}  // namespace stoa::native::data
