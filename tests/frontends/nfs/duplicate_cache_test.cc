#include "frontends/nfs/rpc/duplicate_cache.h"

#include <gtest/gtest.h>

#include "tests/frontends/nfs/wire_client.h"

namespace stoa::rpc {
namespace {

using test::Bytes;
using Clock = std::chrono::steady_clock;
using Verdict = DuplicateCache::Verdict;

class DuplicateCacheTest : public testing::Test {
 protected:
  DuplicateCache::Begin begin(DuplicateCache& cache, const CallKey& key, Clock::time_point now) {
    replayed_.clear();
    return cache.begin(key, now,
                       [&](std::span<const std::byte> reply) { replayed_.assign(reply.begin(), reply.end()); });
  }
  static CallKey key(std::uint32_t xid) {
    CallKey key{.xid = xid, .program = 100003, .procedure = 8, .size = 100, .checksum = 77};
    key.address[15] = 1;
    return key;
  }
  MetricRegistry metrics_;
  Clock::time_point now_ = Clock::now();
  Bytes replayed_;
};

TEST_F(DuplicateCacheTest, ReplaysTheReplyOfAFinishedCall) {
  DuplicateCache cache({}, metrics_);
  const auto first = begin(cache, key(1), now_);
  ASSERT_EQ(first.verdict, Verdict::kNew);
  const Bytes reply(40, std::byte{9});
  cache.finish(first.ticket, reply, now_);
  EXPECT_EQ(begin(cache, key(1), now_).verdict, Verdict::kReplay);
  EXPECT_EQ(replayed_, reply);
}

TEST_F(DuplicateCacheTest, DropsTheSecondWhileTheFirstRuns) {
  DuplicateCache cache({}, metrics_);
  const auto first = begin(cache, key(1), now_);
  EXPECT_EQ(begin(cache, key(1), now_).verdict, Verdict::kInProgress);
  cache.forget(first.ticket);
  EXPECT_EQ(begin(cache, key(1), now_).verdict, Verdict::kNew);
}

TEST_F(DuplicateCacheTest, TellsCallsApartByEveryPartOfTheKey) {
  DuplicateCache cache({}, metrics_);
  cache.finish(begin(cache, key(1), now_).ticket, Bytes(4), now_);
  for (int part = 0; part < 6; ++part) {
    CallKey other = key(1);
    if (part == 0) other.address[15] = 2;
    if (part == 1) other.xid = 2;
    if (part == 2) other.program = 1;
    if (part == 3) other.procedure = 9;
    if (part == 4) other.size = 104;
    if (part == 5) other.checksum = 78;
    EXPECT_EQ(begin(cache, other, now_).verdict, Verdict::kNew) << part;
  }
}

TEST_F(DuplicateCacheTest, ForgetsAfterItsTime) {
  DuplicateCache cache({.entry_life = std::chrono::seconds(10)}, metrics_);
  cache.finish(begin(cache, key(1), now_).ticket, Bytes(4), now_);
  EXPECT_EQ(begin(cache, key(1), now_ + std::chrono::seconds(9)).verdict, Verdict::kReplay);
  EXPECT_EQ(begin(cache, key(1), now_ + std::chrono::seconds(10)).verdict, Verdict::kNew);
}

TEST_F(DuplicateCacheTest, IsBoundedInEntries) {
  DuplicateCache cache({.entries_max = 160}, metrics_);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const auto begun = begin(cache, key(i), now_);
    ASSERT_EQ(begun.verdict, Verdict::kNew);
    cache.finish(begun.ticket, Bytes(100), now_);
  }
  EXPECT_LE(cache.entries(), 160u);
  EXPECT_LE(cache.bytes(), 16'000u);
  EXPECT_EQ(begin(cache, key(9'999), now_).verdict, Verdict::kReplay);
  EXPECT_EQ(begin(cache, key(0), now_).verdict, Verdict::kNew);
}

TEST_F(DuplicateCacheTest, IsBoundedInBytes) {
  DuplicateCache cache({.entries_max = 16384, .bytes_max = 100'000}, metrics_);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const auto begun = begin(cache, key(i), now_);
    if (begun.verdict == Verdict::kNew) cache.finish(begun.ticket, Bytes(1000), now_);
  }
  EXPECT_LE(cache.bytes(), 100'000u + 16 * 1000);
}

TEST_F(DuplicateCacheTest, NeverGivesUpARunningCall) {
  DuplicateCache cache({.entries_max = 16}, metrics_);
  const auto running = begin(cache, key(1), now_);
  for (std::uint32_t i = 2; i < 1000; ++i) {
    const auto begun = begin(cache, key(i), now_);
    if (begun.verdict == Verdict::kNew) cache.finish(begun.ticket, Bytes(4), now_);
  }
  EXPECT_EQ(begin(cache, key(1), now_).verdict, Verdict::kInProgress);
  cache.finish(running.ticket, Bytes(4), now_);
  EXPECT_EQ(begin(cache, key(1), now_).verdict, Verdict::kReplay);
}

TEST_F(DuplicateCacheTest, DoesNotKeepALongReply) {
  DuplicateCache cache({.reply_bytes_max = 100}, metrics_);
  cache.finish(begin(cache, key(1), now_).ticket, Bytes(101), now_);
  EXPECT_EQ(begin(cache, key(1), now_).verdict, Verdict::kNew);
}

TEST_F(DuplicateCacheTest, MayBeSwitchedOff) {
  DuplicateCache cache({.entries_max = 0}, metrics_);
  EXPECT_EQ(begin(cache, key(1), now_).verdict, Verdict::kUncached);
}

}  // namespace
}  // namespace stoa::rpc
