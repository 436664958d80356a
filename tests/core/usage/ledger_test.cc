#include <gtest/gtest.h>

#include <thread>

#include "core/usage/ledger.h"

namespace stoa::core {
namespace {

AccountRef child(const AccountRef& parent) {
  auto account = std::make_shared<Account>();
  account->parent = parent;
  return account;
}

TEST(LedgerTest, ALimitAnywhereOnTheChainRefusesAndLeavesNoTrace) {
  Ledger ledger;
  const AccountRef root = child(nullptr);
  const AccountRef mid = child(root);
  const AccountRef leaf = child(mid);
  ledger.set_limits(mid, {.bytes = 100});
  EXPECT_TRUE(ledger.reserve(leaf, {.bytes = 100}));
  EXPECT_EQ(ledger.reserve(leaf, {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_EQ(ledger.read(leaf).usage.bytes, 100);
  EXPECT_EQ(ledger.read(root).usage.bytes, 100);
}

TEST(LedgerTest, ShrinkingWorksAboveALoweredLimit) {
  Ledger ledger;
  const AccountRef dir = child(nullptr);
  ASSERT_TRUE(ledger.reserve(dir, {.bytes = 100, .files = 5}));
  ledger.set_limits(dir, {.bytes = 10, .files = 1});
  EXPECT_TRUE(ledger.reserve(dir, {.bytes = -50}));
  EXPECT_EQ(ledger.reserve(dir, {.files = 1}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(dir, {.files = -1}));
}

TEST(LedgerTest, MovingWithinOneQuotaIsNotRefusedByIt) {
  Ledger ledger;
  const AccountRef team = child(nullptr);
  const AccountRef a = child(team);
  const AccountRef b = child(team);
  ASSERT_TRUE(ledger.reserve(a, {.bytes = 100}));
  ledger.set_limits(team, {.bytes = 100});
  EXPECT_TRUE(ledger.move(a, b, {.bytes = 100}));
  EXPECT_EQ(ledger.read(a).usage.bytes, 0);
  EXPECT_EQ(ledger.read(b).usage.bytes, 100);
  EXPECT_EQ(ledger.read(team).usage.bytes, 100);
  ledger.set_limits(a, {.bytes = 99});
  EXPECT_EQ(ledger.move(b, a, {.bytes = 100}).error().code, Errc::kQuota);
  EXPECT_EQ(ledger.read(b).usage.bytes, 100);
}

TEST(LedgerTest, RoomIsThatOfTheTightestLimit) {
  Ledger ledger;
  const AccountRef root = child(nullptr);
  const AccountRef dir = child(root);
  EXPECT_FALSE(ledger.room(dir).bytes);
  ledger.set_limits(root, {.bytes = 1000, .files = 3});
  ledger.set_limits(dir, {.bytes = 400});
  ASSERT_TRUE(ledger.reserve(dir, {.bytes = 100, .files = 1}));
  ASSERT_TRUE(ledger.reserve(root, {.bytes = 700, .directories = 1}));
  EXPECT_EQ(ledger.room(dir).bytes, 200u);
  EXPECT_EQ(ledger.room(dir).files, 1u);
  EXPECT_EQ(ledger.tightest(dir).bytes, 400u);
}

TEST(LedgerTest, ConcurrentWritersNeverExceedTheLimitByAByte) {
  Ledger ledger;
  const AccountRef team = child(nullptr);
  ledger.set_limits(team, {.bytes = 10'000});
  std::atomic<std::int64_t> granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, dir = child(team), t] {
      for (int i = 0; i < 1000; ++i) {
        const std::int64_t bytes = 1 + (i + t) % 7;
        if (ledger.reserve(dir, {.bytes = bytes})) granted += bytes;
        EXPECT_LE(ledger.read(team).usage.bytes, 10'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.read(team).usage.bytes, granted);
  EXPECT_EQ(ledger.reserve(team, {.bytes = 10'001 - granted}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(team, {.bytes = 10'000 - granted}));
}

}  // namespace
}  // namespace stoa::core
