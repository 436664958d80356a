#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "tests/core/usage/test_ledger.h"

namespace stoa::core {
namespace {

std::atomic<std::int64_t> seconds_now{1};
class TestClock final : public TimeSource {
 public:
  Timestamp wall() const override { return Timestamp::from(seconds_now, 0); }
  std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds_now));
  }
};
const TestClock test_clock{};

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() { seconds_now = 1; }
  static AccountRef child(const AccountRef& parent) {
    auto account = std::make_shared<Account>();
    account->parent = parent;
    return account;
  }
  static ChargeTarget target(const AccountRef& account, Owner owner = {}, FileId file = FileId{100}) {
    return {account, owner, file};
  }
  Status move(const AccountRef& from, const AccountRef& to, const Usage& delta, Owner owner = {}) {
    Reservations posted;
    STOA_CHECK_OK(ledger.reserve(posted, {{target(from, owner), -delta}, {target(to, owner), delta}}));
    ledger.confirm(posted);
    return {};
  }
  ByteCount bytes(const AccountRef& account) { return ledger.read(account).usage.bytes; }
  ByteCount bytes(const AccountRef& account, OwnerKey owner) { return ledger.read(account, owner)->usage.bytes; }

  MetricRegistry metrics;
  TestLedger ledger{metrics, &test_clock};
};

TEST_F(LedgerTest, ALimitAnywhereOnTheChainRefusesAndLeavesNoTrace) {
  const AccountRef root = child(nullptr);
  const AccountRef mid = child(root);
  const AccountRef leaf = child(mid);
  ledger.set_limits(mid, {.bytes = 100});
  EXPECT_TRUE(ledger.reserve(target(leaf), {.bytes = 100}));
  EXPECT_EQ(ledger.reserve(target(leaf), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_EQ(bytes(leaf), 100);
  EXPECT_EQ(bytes(root), 100);
}

TEST_F(LedgerTest, AChainMayEndInADirectoryThatIsKeptElsewhere) {
  const AccountRef stand_in = child(nullptr);
  stand_in->dir = FileId{std::uint64_t{7} << 48 | 99};
  const AccountRef top = child(stand_in), other = child(stand_in);
  ledger.set_limits(stand_in, {.bytes = 10});
  ASSERT_TRUE(ledger.reserve(target(top), {.bytes = 8}));
  EXPECT_EQ(ledger.reserve(target(other), {.bytes = 3}).error().code, Errc::kQuota);
  ASSERT_TRUE(move(top, other, {.bytes = 8}));
  EXPECT_EQ(bytes(stand_in), 8);
  EXPECT_EQ(ledger.tightest(other).bytes.room, 2u);
  EXPECT_FALSE(ledger.owners_counted_between(top, other));
  ledger.set_parent(top, other);
  ledger.set_parent(top, stand_in);
}

TEST_F(LedgerTest, SizesOfSparseFilesAddUpBeyond64Bits) {
  constexpr ByteCount kLargest = std::numeric_limits<std::int64_t>::max();
  const AccountRef root = child(nullptr);
  const AccountRef one = child(root);
  const AccountRef other = child(root);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ledger.reserve(target(one), {.bytes = kLargest}));
  EXPECT_TRUE(ledger.reserve(target(other), {.bytes = 1}));
  EXPECT_TRUE(bytes(root) == 3 * kLargest + 1);
  EXPECT_EQ(bytes_of(ledger.read(root).usage), std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(move(one, other, {.bytes = 2 * kLargest}));
  EXPECT_TRUE(bytes(root) == 3 * kLargest + 1);
  EXPECT_TRUE(bytes(other) == 2 * kLargest + 1);
  // Even the largest limit is one.
  ledger.set_limits(one, {.bytes = std::numeric_limits<std::uint64_t>::max()});
  EXPECT_TRUE(ledger.reserve(target(one), {.bytes = kLargest + 1}));
  EXPECT_EQ(ledger.reserve(target(one), {.bytes = 1}).error().code, Errc::kQuota);
  for (int i = 0; i < 2; ++i) ledger.give_back(target(one), {.bytes = kLargest});
  EXPECT_EQ(bytes(one), 1);
}

TEST_F(LedgerTest, ShrinkingWorksAboveALoweredLimit) {
  const AccountRef dir = child(nullptr);
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 100, .files = 5}));
  ledger.set_limits(dir, {.bytes = 10, .files = 1});
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = -50}));
  EXPECT_EQ(ledger.reserve(target(dir), {.files = 1}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(target(dir), {.files = -1}));
}

TEST_F(LedgerTest, MovingWithinOneQuotaIsNotRefusedByIt) {
  const AccountRef team = child(nullptr);
  const AccountRef a = child(team);
  const AccountRef b = child(team);
  ASSERT_TRUE(ledger.reserve(target(a), {.bytes = 100}));
  ledger.set_limits(team, {.bytes = 100});
  EXPECT_TRUE(move(a, b, {.bytes = 100}));
  EXPECT_EQ(bytes(a), 0);
  EXPECT_EQ(bytes(b), 100);
  EXPECT_EQ(bytes(team), 100);
  ledger.set_limits(a, {.bytes = 99});
  EXPECT_EQ(move(b, a, {.bytes = 100}).error().code, Errc::kQuota);
  EXPECT_EQ(bytes(b), 100);
}

TEST_F(LedgerTest, RoomIsThatOfTheTightestLimit) {
  const AccountRef root = child(nullptr);
  const AccountRef dir = child(root);
  EXPECT_FALSE(ledger.tightest(dir).bytes.limited());
  ledger.set_limits(root, {.bytes = 1000, .files = 3});
  ledger.set_limits(dir, {.bytes = 400});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 100, .files = 1}));
  ASSERT_TRUE(ledger.reserve(target(root), {.bytes = 700, .directories = 1}));
  const Ledger::Tightest tightest = ledger.tightest(dir);
  EXPECT_EQ(tightest.bytes.room, 200u);
  EXPECT_EQ(tightest.bytes.used, 800u);
  EXPECT_EQ(tightest.bytes.hard, 400u);
  EXPECT_EQ(tightest.files.room, 1u);
  EXPECT_EQ(tightest.files.used, 2u);
}

TEST_F(LedgerTest, ConcurrentWritersNeverExceedTheLimitByAByte) {
  const AccountRef team = child(nullptr);
  ledger.set_limits(team, {.bytes = 10'000});
  std::atomic<std::int64_t> granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, dir = child(team), t] {
      for (int i = 0; i < 1000; ++i) {
        const std::int64_t wanted = 1 + (i + t) % 7;
        if (ledger.reserve(target(dir), {.bytes = wanted})) granted += wanted;
        EXPECT_LE(bytes(team), 10'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bytes(team), granted);
  EXPECT_EQ(ledger.reserve(target(team), {.bytes = 10'001 - granted}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(target(team), {.bytes = 10'000 - granted}));
}

// --- operations that release and bring

TEST_F(LedgerTest, WhatAnOperationReleasesIsForNobodyElseUntilItIsKept) {
  const AccountRef dir = child(nullptr);
  ledger.set_limits(dir, {.bytes = 100});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 100}));
  Reservations replace;
  ASSERT_TRUE(ledger.reserve(replace, {{target(dir), {.bytes = -60}}}));
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  // Its own growth finds the room.
  ASSERT_TRUE(ledger.reserve(replace, {{target(dir), {.bytes = 50}}}));
  EXPECT_EQ(ledger.reserve(replace, {{target(dir), {.bytes = 11}}}).error().code, Errc::kQuota);
  EXPECT_EQ(bytes(dir), 100);
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  ledger.confirm(replace);
  EXPECT_EQ(bytes(dir), 90);
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = 10}));
}

TEST_F(LedgerTest, ADroppedOperationLeavesNoTrace) {
  const AccountRef root = child(nullptr);
  const AccountRef from = child(root);
  const AccountRef to = child(root);
  ASSERT_TRUE(ledger.reserve(target(from), {.bytes = 70, .files = 1}));
  ASSERT_TRUE(ledger.reserve(target(to), {.bytes = 30, .files = 1}));
  ledger.set_limits(from, {.bytes = 70});
  Reservations rename;  // over a file of 30 bytes
  ASSERT_TRUE(ledger.reserve(rename, {{target(to), {.bytes = -30, .files = -1}}}));
  ASSERT_TRUE(
      ledger.reserve(rename, {{target(from), {.bytes = -70, .files = -1}}, {target(to), {.bytes = 70, .files = 1}}}));
  EXPECT_EQ(bytes(to), 70);
  EXPECT_EQ(bytes(from), 70);
  EXPECT_EQ(bytes(root), 100);
  EXPECT_EQ(ledger.reserve(target(from), {.bytes = 1}).error().code, Errc::kQuota);
  ledger.cancel(rename);
  EXPECT_EQ(bytes(to), 30);
  EXPECT_EQ(bytes(from), 70);
  EXPECT_EQ(bytes(root), 100);
  for (const Charge& charge :
       {Charge{target(to), {.bytes = -30, .files = -1}}, Charge{target(from), {.bytes = -70, .files = -1}},
        Charge{target(to), {.bytes = 70, .files = 1}}}) {
    ASSERT_TRUE(ledger.reserve(rename, {charge}));
  }
  ledger.confirm(rename);
  EXPECT_EQ(bytes(to), 70);
  EXPECT_EQ(bytes(from), 0);
  EXPECT_EQ(bytes(root), 70);
  EXPECT_EQ(ledger.read(root).usage.files, 1);
}

TEST_F(LedgerTest, WhatShrinksInAllIsNotRefusedAboveALoweredLimit) {
  const AccountRef dir = child(nullptr);
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 100}));
  ledger.set_limits(dir, {.bytes = 50});
  Reservations replace;
  ASSERT_TRUE(ledger.reserve(replace, {{target(dir), {.bytes = -30}}}));
  EXPECT_TRUE(ledger.reserve(replace, {{target(dir), {.bytes = 30}}}));
  EXPECT_EQ(ledger.reserve(replace, {{target(dir), {.bytes = 1}}}).error().code, Errc::kQuota);
  ledger.cancel(replace);
}

TEST_F(LedgerTest, DroppedOperationsOfManyThreadsNeverLetALimitBePassed) {
  const AccountRef team = child(nullptr);
  const AccountRef a = child(team);
  const AccountRef b = child(team);
  ledger.set_limits(team, {.bytes = 1000});
  ledger.set_limits(a, {.bytes = 600});
  ASSERT_TRUE(ledger.reserve(target(a), {.bytes = 600}));
  ASSERT_TRUE(ledger.reserve(target(b), {.bytes = 400}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        Reservations posted;
        const std::int64_t size = 1 + (i + t) % 50;
        if (t % 2 == 0) {
          const bool both = ledger.reserve(posted, {{target(a), {.bytes = -size}}}) &&
                            ledger.reserve(posted, {{target(b), {.bytes = size}}});
          i % 3 == 0 && both ? ledger.confirm(posted) : ledger.cancel(posted);
          if (i % 3 == 0 && both) {
            Reservations back;
            while (!ledger.reserve(back, {{target(b), {.bytes = -size}}, {target(a), {.bytes = size}}})) {
            }
            ledger.confirm(back);
          }
        } else if (ledger.reserve(posted, {{target(a), {.bytes = size}}})) {
          ledger.cancel(posted);
        }
        EXPECT_LE(bytes(team), 1000);
        EXPECT_LE(bytes(a), 600);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bytes(team), 1000);
  EXPECT_EQ(bytes(a), 600);
  EXPECT_EQ(bytes(b), 400);
}

// --- soft limits

TEST_F(LedgerTest, AboveASoftLimitGrowthIsRefusedWhenGraceIsOver) {
  const AccountRef dir = child(nullptr);
  ledger.set_limits(dir, {.bytes = 200, .soft_bytes = 100, .grace_s = 10});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 100}));
  EXPECT_EQ(ledger.read(dir).since, SoftExcess{});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 1}));
  EXPECT_EQ(ledger.read(dir).since.bytes, test_clock.wall());
  EXPECT_EQ(ledger.tightest(dir).bytes.room, 99u);
  EXPECT_EQ(ledger.tightest(dir).bytes.soft_room, 0u);
  EXPECT_EQ(ledger.tightest(dir).bytes.grace_ends, Timestamp::from(11, 0));
  seconds_now = 10;
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = 1, .files = 1}));
  seconds_now = 11;
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_EQ(ledger.tightest(dir).bytes.room, 0u);
  // Files have a limit of their own, and shrinking works.
  EXPECT_TRUE(ledger.reserve(target(dir), {.files = 1}));
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = -1}));
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = -1}));
  EXPECT_EQ(ledger.read(dir).since, SoftExcess{});
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = 50}));
}

TEST_F(LedgerTest, SoftLimitsOfFilesCountDirectoriesToo) {
  const AccountRef dir = child(nullptr);
  ledger.set_limits(dir, {.soft_files = 2, .grace_s = 0});
  ASSERT_TRUE(ledger.reserve(target(dir), {.files = 1}));
  ASSERT_TRUE(ledger.reserve(target(dir), {.directories = 1}));
  ASSERT_TRUE(ledger.reserve(target(dir), {.files = 1}));
  EXPECT_EQ(ledger.reserve(target(dir), {.directories = 1}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = 1000}));
}

TEST_F(LedgerTest, NewLimitsKeepAClockThatRunsAndStopOneThatNeedNot) {
  const AccountRef dir = child(nullptr);
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 50}));
  ledger.set_limits(dir, {.soft_bytes = 10});
  seconds_now = 5;
  ledger.set_limits(dir, {.soft_bytes = 20});
  EXPECT_EQ(ledger.read(dir).since.bytes, Timestamp::from(1, 0));
  ledger.set_limits(dir, {.soft_bytes = 50});
  EXPECT_EQ(ledger.read(dir).since, SoftExcess{});
  ledger.set_limits(dir, {.soft_bytes = 49});
  EXPECT_EQ(ledger.read(dir).since.bytes, Timestamp::from(5, 0));
  ledger.set_limits(dir, {});
  EXPECT_EQ(ledger.read(dir).since, SoftExcess{});
}

TEST_F(LedgerTest, ADroppedOperationNeitherStopsNorStartsAClock) {
  const AccountRef dir = child(nullptr);
  ledger.set_limits(dir, {.soft_bytes = 100});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 101}));
  seconds_now = 5;
  Reservations removal;
  ASSERT_TRUE(ledger.reserve(removal, {{target(dir), {.bytes = -50}}}));
  ledger.cancel(removal);
  EXPECT_EQ(ledger.read(dir).since.bytes, Timestamp::from(1, 0));
}

TEST_F(LedgerTest, PassingASoftLimitIsNoticedOnceEachWay) {
  const AccountRef dir = child(nullptr);
  dir->dir = FileId{77};
  ledger.set_limits(dir, {.soft_bytes = 100});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 101}));
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 101}));
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = -150}));
  const std::vector<SoftNotice> notices = ledger.take_notices();
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[0].dir, FileId{77});
  EXPECT_EQ(notices[0].used.bytes, 101);
  EXPECT_NE(notices[0].since.bytes, Timestamp{});
  EXPECT_EQ(notices[1].since, SoftExcess{});
  EXPECT_TRUE(ledger.take_notices().empty());
  EXPECT_NE(metrics.render().find("stoa_quota_soft_limits_passed_total 1\n"), std::string::npos);
}

TEST_F(LedgerTest, NoticesThatNobodyTakesAreBounded) {
  const AccountRef dir = child(nullptr);
  ledger.set_limits(dir, {.soft_bytes = 0});
  for (std::size_t i = 0; i < Ledger::kNoticesMax; ++i) {
    ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 1}));
    ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = -1}));
  }
  EXPECT_EQ(ledger.take_notices().size(), Ledger::kNoticesMax);
}

// --- users and groups

constexpr OwnerKey kAnn{QuotaOf::kUser, 1};
constexpr OwnerKey kBob{QuotaOf::kUser, 2};
constexpr OwnerKey kStaff{QuotaOf::kGroup, 50};

TEST_F(LedgerTest, OwnersAreCountedWhereTheyAreToBe) {
  const AccountRef root = child(nullptr);
  const AccountRef homes = child(root);
  const AccountRef deep = child(homes);
  ledger.count_owners(homes, OwnersCounted::kYes);
  ASSERT_TRUE(ledger.reserve(target(deep, {1, 50}), {.bytes = 10, .files = 1}));
  ASSERT_TRUE(ledger.reserve(target(homes, {2, 50}), {.bytes = 5, .files = 1}));
  EXPECT_EQ(bytes(homes, kAnn), 10);
  EXPECT_EQ(bytes(homes, kBob), 5);
  EXPECT_EQ(bytes(homes, kStaff), 15);
  EXPECT_FALSE(ledger.read(root, kAnn));
  const auto owners = ledger.owners(homes, {}, 10);
  ASSERT_EQ(owners.size(), 3u);
  EXPECT_EQ(owners[0].first, kAnn);
  EXPECT_EQ(owners[2].first, kStaff);
  EXPECT_EQ(ledger.owners(homes, kBob, 10).size(), 1u);
  ledger.give_back(target(homes, {2, 50}), {.bytes = 5, .files = 1});
  EXPECT_EQ(ledger.owners(homes, {}, 10).size(), 2u);
}

TEST_F(LedgerTest, AUserAndAGroupAreLimited) {
  const AccountRef homes = child(nullptr);
  ledger.count_owners(homes, OwnersCounted::kYes);
  ledger.set_limits(homes, kAnn, {.bytes = 10});
  ledger.set_limits(homes, kStaff, {.bytes = 12});
  EXPECT_TRUE(ledger.reserve(target(homes, {1, 50}), {.bytes = 10}));
  EXPECT_EQ(ledger.reserve(target(homes, {1, 50}), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_EQ(ledger.reserve(target(homes, {1, 60}), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(target(homes, {2, 50}), {.bytes = 2}));
  EXPECT_EQ(ledger.reserve(target(homes, {2, 50}), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.reserve(target(homes, {2, 60}), {.bytes = 1}));
  EXPECT_EQ(bytes(homes), 13);
  EXPECT_EQ(ledger.tightest(homes, 1, 60).bytes.room, 0u);
  EXPECT_EQ(ledger.tightest(homes, 1, 60).bytes.hard, 10u);
  EXPECT_FALSE(ledger.tightest(homes, 2, 60).bytes.limited());
}

TEST_F(LedgerTest, AnotherOwnerPaysIfHeMay) {
  const AccountRef homes = child(nullptr);
  ledger.count_owners(homes, OwnersCounted::kYes);
  ledger.set_limits(homes, kBob, {.bytes = 9});
  ASSERT_TRUE(ledger.reserve(target(homes, {1, 50}), {.bytes = 10, .files = 1}));
  const auto give = [&](std::int64_t size) -> Status {
    Reservations posted;
    STOA_CHECK_OK(ledger.reserve(
        posted, {{target(homes, {1, 50}), {.bytes = -size}}, {target(homes, {2, 50}), {.bytes = size}}}));
    ledger.confirm(posted);
    return {};
  };
  EXPECT_EQ(give(10).error().code, Errc::kQuota);
  EXPECT_EQ(bytes(homes, kAnn), 10);
  EXPECT_TRUE(give(9));
  EXPECT_EQ(bytes(homes, kAnn), 1);
  EXPECT_EQ(bytes(homes, kBob), 9);
  EXPECT_EQ(bytes(homes, kStaff), 10);
  EXPECT_EQ(bytes(homes), 10);
}

TEST_F(LedgerTest, WhileOwnersAreCountedAChargeIsTheirsIfItsFileIsCounted) {
  const AccountRef root = child(nullptr);
  const AccountRef homes = child(root);
  const AccountRef waits = child(homes);
  const Owner ann{1, 50};
  ledger.count_owners(homes, OwnersCounted::kBeingCounted);
  ledger.count_owners(waits, OwnersCounted::kBeingCounted);
  ledger.set_limits(homes, kAnn, {.bytes = 12});
  ASSERT_TRUE(ledger.reserve(target(waits, ann, FileId{5}), {.bytes = 10, .files = 1}));
  EXPECT_EQ(bytes(homes, kAnn), 0);
  const auto files = std::make_shared<CountedFiles>();
  EXPECT_FALSE(ledger.counts_with(homes, files));
  ledger.count({.files = files, .joining = {homes}, .after = {.below = FileId{0}, .from = FileId{100}}});
  EXPECT_TRUE(ledger.counts_with(homes, files));
  ASSERT_TRUE(ledger.reserve(target(waits, ann, FileId{5}), {.bytes = 1}));  // is not counted yet,
  EXPECT_EQ(bytes(homes, kAnn), 0);
  ASSERT_TRUE(ledger.reserve(target(waits, ann, FileId{100}), {.bytes = 7, .files = 1}));  // and a new one is
  EXPECT_EQ(bytes(homes, kAnn), 7);
  ledger.count({.files = files,
                .found = {{target(waits, ann, FileId{5}), {.bytes = 11, .files = 1}},
                          {target(root, ann, FileId{6}), {.files = 1}}},
                .after = {.below = FileId{7}, .from = FileId{100}, .looked_at = 2}});
  EXPECT_EQ(bytes(homes, kAnn), 18);
  EXPECT_EQ(ledger.looked_at(homes), 2u);
  EXPECT_EQ(ledger.looked_at(waits), 0u);
  EXPECT_EQ(bytes(waits, kAnn), 0);
  ledger.give_back(target(waits, ann, FileId{5}), {.bytes = 1});
  EXPECT_EQ(bytes(homes, kAnn), 17);
  // A dropped operation leaves no trace; limits are checked only after all are counted.
  Reservations posted;
  ASSERT_TRUE(ledger.reserve(
      posted, {{target(homes, ann, FileId{5}), {.bytes = 100}}, {target(homes, ann, FileId{8}), {.bytes = -1}}}));
  EXPECT_EQ(bytes(homes, kAnn), 117);
  ledger.cancel(posted);
  EXPECT_EQ(bytes(homes, kAnn), 17);
  EXPECT_FALSE(ledger.tightest(homes, 1, 50).bytes.limited());
  ledger.count_owners(homes, OwnersCounted::kYes);
  EXPECT_FALSE(ledger.looked_at(homes));
  EXPECT_EQ(ledger.reserve(target(homes, ann, FileId{8}), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_EQ(bytes(homes, kAnn), 17);
}

TEST_F(LedgerTest, WhereOwnersAreCountedBetweenTwoDirectoriesIsKnown) {
  const AccountRef root = child(nullptr);
  const AccountRef homes = child(root);
  const AccountRef ann = child(homes);
  const AccountRef bob = child(homes);
  const AccountRef scratch = child(root);
  ledger.count_owners(homes, OwnersCounted::kYes);
  EXPECT_FALSE(ledger.owners_counted_between(ann, bob));
  EXPECT_FALSE(ledger.owners_counted_between(root, scratch));
  EXPECT_TRUE(ledger.owners_counted_between(ann, scratch));
  EXPECT_TRUE(ledger.owners_counted_between(scratch, homes));
}

}  // namespace
}  // namespace stoa::core
