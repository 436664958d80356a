// Usage by class, and limits that leave some of it out.
#include <gtest/gtest.h>

#include <map>
#include <random>
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

constexpr ExcludedClasses kAllCounted{}, kNoRecycled{UsageClass::kRecycled}, kNoOrphans{UsageClass::kOrphans},
    kOnlyLive = kAllButLive, kNoMultipart{UsageClass::kMultipart};

// team has a directory, a recycle bin with a user's bin, and a multipart upload.
class LedgerClassesTest : public ::testing::Test {
 protected:
  LedgerClassesTest() { seconds_now = 1; }
  static AccountRef child(const AccountRef& parent, UsageClass child_class = UsageClass::kLive) {
    auto account = std::make_shared<Account>();
    account->parent = parent;
    account->child_class = child_class;
    return account;
  }
  static ChargeTarget target(const AccountRef& account, UsageClass of = UsageClass::kLive, Owner owner = {1, 50}) {
    return {account, owner, FileId{100}, of};
  }
  Status move(const ChargeTarget& from, const ChargeTarget& to, const Usage& usage) {
    Reservations posted;
    STOA_CHECK_OK(ledger.reserve(posted, {{from, -usage}, {to, usage}}));
    ledger.confirm(posted);
    return {};
  }
  void expect(const AccountRef& account, std::int64_t live, std::int64_t recycled, std::int64_t orphan) {
    const UsageRecord known = ledger.read(account);
    EXPECT_EQ(known.usage.bytes, live + recycled + orphan);
    EXPECT_EQ(known.by_class[UsageClass::kRecycled].bytes, recycled);
    EXPECT_EQ(known.by_class[UsageClass::kOrphans].bytes, orphan);
  }
  // The usage that limits see.
  std::int64_t counted(const AccountRef& account) {
    return static_cast<std::int64_t>(ledger.tightest(account).bytes.used);
  }

  MetricRegistry metrics;
  TestLedger ledger{metrics, &test_clock};
  const AccountRef root = child(nullptr), team = child(root), dir = child(team),
                   bin = child(team, UsageClass::kRecycled), user_bin = child(bin),
                   upload = child(team, UsageClass::kMultipart);
};

TEST_F(LedgerClassesTest, EveryWayOfAFileIsOfItsClass) {
  for (const ExcludedClasses& excluded : {kAllCounted, kNoRecycled, kNoOrphans, kOnlyLive}) {
    ledger.set_limits(team, {.bytes = 100, .excluded = excluded});
    const auto check = [&](std::int64_t live, std::int64_t recycled, std::int64_t orphan) {
      expect(team, live, recycled, orphan);
      expect(root, live, recycled, orphan);
      EXPECT_EQ(counted(team), live + (excluded.has(UsageClass::kRecycled) ? 0 : recycled) +
                                   (excluded.has(UsageClass::kOrphans) ? 0 : orphan));
    };
    const ChargeTarget live = target(dir), orphan = target(dir, UsageClass::kOrphans), recycled = target(user_bin);
    ASSERT_TRUE(ledger.reserve(live, {.bytes = 100}));
    check(100, 0, 0);
    EXPECT_EQ(ledger.reserve(live, {.bytes = 1}).error().code, Errc::kQuota);
    // No removal needs room.
    ASSERT_TRUE(move(live, recycled, {.bytes = 60}));
    check(40, 60, 0);
    expect(bin, 0, 60, 0);
    expect(user_bin, 60, 0, 0);
    ASSERT_TRUE(move(live, orphan, {.bytes = 30}));
    check(10, 60, 30);
    expect(dir, 10, 0, 30);
    // Excluded usage leaves room.
    const std::int64_t room =
        (excluded.has(UsageClass::kRecycled) ? 60 : 0) + (excluded.has(UsageClass::kOrphans) ? 30 : 0);
    EXPECT_EQ(ledger.check(live, {.bytes = room + 1}).error().code, Errc::kQuota);
    ASSERT_TRUE(ledger.reserve(live, {.bytes = room}));
    check(10 + room, 60, 30);
    // Excluded usage grows on; a restore needs room where the bin did not count.
    EXPECT_EQ(ledger.check(orphan, {.bytes = 1}).has_value(), excluded.has(UsageClass::kOrphans));
    EXPECT_EQ(ledger.check(recycled, {.bytes = 1}).has_value(), excluded.has(UsageClass::kRecycled));
    EXPECT_EQ(move(recycled, live, {.bytes = 60}).has_value(), !excluded.has(UsageClass::kRecycled));
    if (excluded.has(UsageClass::kRecycled)) {
      check(10 + room, 60, 30);
      ledger.give_back(live, {.bytes = 60});
      ASSERT_TRUE(move(recycled, live, {.bytes = 60}));
      check(10 + room, 0, 30);
    } else {
      check(70 + room, 0, 30);
    }
    ledger.give_back(orphan, {.bytes = 30});
    ledger.give_back(live, ledger.read(dir).usage);
    check(0, 0, 0);
    for (const AccountRef& account : {root, team, dir, bin, user_bin})
      EXPECT_EQ(account->reserved.total.not_live, nullptr);
  }
}

TEST_F(LedgerClassesTest, PartsThatCountAreJoinedWithoutMoreRoom) {
  const ChargeTarget parts = target(upload), directory = target(team, UsageClass::kMultipart);
  for (const ExcludedClasses& excluded : {kAllCounted, kNoMultipart, kNoRecycled, kOnlyLive}) {
    ledger.set_limits(team, {.bytes = 100, .files = 3, .excluded = excluded});
    ASSERT_TRUE(ledger.reserve(directory, {.directories = 1}));
    ASSERT_TRUE(ledger.reserve(parts, {.bytes = 100, .files = 2}));
    EXPECT_EQ(ledger.check(parts, {.bytes = 1}).has_value(), excluded.has(UsageClass::kMultipart));
    EXPECT_EQ(ledger.read(team).by_class, (UsageByClass{{UsageClass::kMultipart, {100, 2, 1}}}));
    EXPECT_EQ(ledger.read(upload).by_class, (UsageByClass{{UsageClass::kMultipart, {100, 2, 0}}}));
    EXPECT_EQ(counted(team), excluded.has(UsageClass::kMultipart) ? 0 : 100);
    // Live usage takes the room where they leave it.
    const std::int64_t live = excluded.has(UsageClass::kMultipart) ? 40 : 0;
    ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = live}));
    Reservations join;
    ASSERT_TRUE(ledger.reserve(join, {{parts, {.bytes = -100, .files = -2}}}));
    ASSERT_TRUE(ledger.reserve(join, {{directory, {.directories = -1}}}));
    EXPECT_EQ(ledger.reserve(join, {{target(team), {.bytes = 100 - live + 1, .files = 1}}}).error().code, Errc::kQuota);
    ASSERT_TRUE(ledger.reserve(join, {{target(team), {.bytes = 100 - live, .files = 1}}}));
    EXPECT_EQ(counted(team), 100);
    EXPECT_EQ(ledger.check(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
    ledger.confirm(join);
    expect(team, 100, 0, 0);
    ledger.give_back(target(team), {.bytes = 100 - live, .files = 1});
    ledger.give_back(target(dir), {.bytes = live});
    for (const AccountRef& account : {root, team, upload}) EXPECT_EQ(account->reserved.total.not_live, nullptr);
  }
}

TEST_F(LedgerClassesTest, WhatADeleteFreesIsForNobodyBeforeItIsKept) {
  ledger.set_limits(team, {.bytes = 100, .excluded = kNoRecycled});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 100}));
  for (const bool kept : {false, true}) {
    Reservations posted;
    ASSERT_TRUE(ledger.reserve(posted, {{target(dir), {.bytes = -40}}, {target(user_bin), {.bytes = 40}}}));
    EXPECT_EQ(counted(team), 100);
    EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
    // Its own growth finds the room: a rename over a file that goes to the bin.
    ASSERT_TRUE(ledger.reserve(posted, {{target(dir), {.bytes = 25}}}));
    EXPECT_EQ(ledger.reserve(posted, {{target(dir), {.bytes = 16}}}).error().code, Errc::kQuota);
    EXPECT_EQ(counted(team), 100);
    kept ? ledger.confirm(posted) : ledger.cancel(posted);
    kept ? expect(team, 85, 40, 0) : expect(team, 100, 0, 0);
    EXPECT_EQ(counted(team), kept ? 85 : 100);
  }
  // A restore reserves its need from the beginning.
  Reservations restore;
  EXPECT_EQ(ledger.reserve(restore, {{target(user_bin), {.bytes = -16}}, {target(dir), {.bytes = 16}}}).error().code,
            Errc::kQuota);
  ASSERT_TRUE(ledger.reserve(restore, {{target(user_bin), {.bytes = -15}}, {target(dir), {.bytes = 15}}}));
  EXPECT_EQ(counted(team), 100);
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  ledger.cancel(restore);
  EXPECT_EQ(counted(team), 85);
  expect(team, 85, 40, 0);
}

TEST_F(LedgerClassesTest, EachQuotaOfAChainCountsWhatItDeclares) {
  ledger.set_limits(root, {.bytes = 100});
  ledger.set_limits(team, {.bytes = 50, .excluded = kNoRecycled});
  ledger.set_limits(dir, {.bytes = 40, .excluded = kNoOrphans});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 40}));
  ASSERT_TRUE(move(target(dir), target(user_bin), {.bytes = 40}));
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 40}));
  ASSERT_TRUE(move(target(dir), target(dir, UsageClass::kOrphans), {.bytes = 30}));
  // dir: 10 of 40; team: 40 of 50; root: 80 of 100.
  EXPECT_EQ(ledger.tightest(dir).bytes.room, 10u);
  EXPECT_EQ(ledger.check(target(dir), {.bytes = 11}).error().code, Errc::kQuota);
  EXPECT_EQ(ledger.check(target(dir, UsageClass::kOrphans), {.bytes = 11}).error().code, Errc::kQuota);
  ASSERT_TRUE(ledger.reserve(target(user_bin), {.bytes = 20}));
  EXPECT_EQ(ledger.check(target(user_bin), {.bytes = 1}).error().code, Errc::kQuota);  // root counts everything
  ASSERT_TRUE(ledger.check(target(dir), {.bytes = 0}));
}

TEST_F(LedgerClassesTest, UsersAndGroupsAreLimitedByWhatTheDirectoryDeclares) {
  const OwnerKey ann{QuotaOf::kUser, 1}, staff{QuotaOf::kGroup, 50};
  ledger.count_owners(team, OwnersCounted::kYes);
  ledger.set_limits(team, {.excluded = kNoRecycled});
  ledger.set_limits(team, ann, {.bytes = 100, .soft_bytes = 80});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 100}));
  EXPECT_NE(ledger.read(team, ann)->since.bytes, Timestamp{});
  ASSERT_TRUE(move(target(dir), target(user_bin), {.bytes = 60}));
  EXPECT_EQ(ledger.read(team, ann)->since.bytes, Timestamp{});
  EXPECT_EQ(ledger.read(team, ann)->usage.bytes, 100);
  EXPECT_EQ(ledger.read(team, staff)->by_class[UsageClass::kRecycled].bytes, 60);
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 60}));
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  EXPECT_EQ(move(target(user_bin), target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  ledger.give_back(target(dir), {.bytes = 60});
  // All of it counts again: at once, with clocks and notices.
  (void)ledger.take_notices();
  seconds_now = 5;
  ledger.set_limits(team, {});
  EXPECT_EQ(ledger.read(team, ann)->since.bytes, Timestamp::from(5, 0));
  ASSERT_EQ(ledger.take_notices().size(), 1u);
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  ledger.set_limits(team, {.excluded = kOnlyLive});
  EXPECT_EQ(ledger.read(team, ann)->since.bytes, Timestamp{});
  const auto notices = ledger.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].used.bytes, 40);
  // A change of an excluded class makes no owner of nothing.
  ledger.give_back(target(user_bin), {.bytes = 60});
  ledger.give_back(target(dir), {.bytes = 40});
  EXPECT_EQ(ledger.owners(team, {}, 10).size(), 1u);  // ann has limits
}

TEST_F(LedgerClassesTest, SoftLimitsSeeWhatIsCounted) {
  ledger.set_limits(team, {.soft_bytes = 50, .grace_s = 10, .excluded = kNoOrphans});
  ASSERT_TRUE(ledger.reserve(target(dir), {.bytes = 60}));
  EXPECT_EQ(ledger.read(team).since.bytes, test_clock.wall());
  ASSERT_TRUE(move(target(dir), target(dir, UsageClass::kOrphans), {.bytes = 20}));
  EXPECT_EQ(ledger.read(team).since, SoftExcess{});
  seconds_now = 3;
  ledger.set_limits(team, {.soft_bytes = 50, .grace_s = 10});
  EXPECT_EQ(ledger.read(team).since.bytes, test_clock.wall());
  seconds_now = 13;
  EXPECT_EQ(ledger.reserve(target(dir), {.bytes = 1}).error().code, Errc::kQuota);
  ledger.set_limits(team, {.soft_bytes = 50, .grace_s = 10, .excluded = kNoOrphans});
  EXPECT_TRUE(ledger.reserve(target(dir), {.bytes = 1}));
  const auto notices = ledger.take_notices();
  ASSERT_EQ(notices.size(), 4u);
  EXPECT_EQ(notices[3].used.bytes, 40);
}

// Concurrent operations of all kinds, kept and dropped in any order; the final state is recomputed from the kept
// ones.
TEST_F(LedgerClassesTest, AllSumsAreExactWhateverIsKeptAndDropped) {
  const AccountRef deep = child(dir), inner_bin = child(dir, UsageClass::kRecycled),
                   inner_upload = child(deep, UsageClass::kMultipart), inner_user_bin = child(inner_bin);
  const std::vector<AccountRef> accounts{root,      team,           dir,    bin,         user_bin, deep,
                                         inner_bin, inner_user_bin, upload, inner_upload};
  const std::vector<AccountRef> targets{dir, user_bin, deep, inner_user_bin, upload, inner_upload};
  ledger.count_owners(team, OwnersCounted::kYes);
  ledger.set_limits(team, {.bytes = 2000, .files = 60, .excluded = kNoRecycled});
  ledger.set_limits(dir, {.bytes = 1500, .excluded = {UsageClass::kOrphans, UsageClass::kMultipart}});
  ledger.set_limits(deep, {.bytes = 900, .excluded = kOnlyLive});
  ledger.set_limits(team, {QuotaOf::kUser, 1}, {.bytes = 1200});
  std::mt19937 random(7);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  struct File {
    ChargeTarget target;
    Usage usage;
    bool busy = false;
  };
  struct Operation {
    std::size_t file;
    Reservations posted;
    ChargeTarget to;
    Usage usage;
  };
  std::vector<File> files;
  std::vector<Operation> under_way;
  const auto end_one = [&] {
    const std::size_t at = below(under_way.size());
    Operation& operation = under_way[at];
    File& file = files[operation.file];
    if (random() % 3 != 0) {
      ledger.confirm(operation.posted);
      file.target = operation.to;
      file.usage = operation.usage;
    } else {
      ledger.cancel(operation.posted);
    }
    file.busy = false;
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
  };
  const auto any_charged = [&] {
    const auto of = random() % 3 == 0 ? UsageClass::kOrphans : UsageClass::kLive;
    const std::uint32_t uid = 1 + static_cast<std::uint32_t>(random() % 2);
    return target(targets[below(targets.size())], of, {uid, 50});
  };
  for (int i = 0; i < 20'000; ++i) {
    for (const auto& [account, limit] : {std::pair{team, 2000}, {dir, 1500}, {deep, 900}}) {
      const Counters& total = account->reserved.total;
      ASSERT_LE(total.counted().bytes, limit);
    }
    ASSERT_LE(files_of(team->reserved.total.counted()), 60u);
    if (under_way.size() > 6 || (!under_way.empty() && random() % 2 == 0)) {
      end_one();
      continue;
    }
    if (files.size() < 100) files.push_back({any_charged(), {}});
    const std::size_t at = below(files.size());
    File& file = files[at];
    if (file.busy) continue;
    Operation operation{at, {}, any_charged(), {}};
    if (random() % 4 != 0) operation.usage = {.bytes = static_cast<std::int64_t>(random() % 150), .files = 1};
    const bool whole = random() % 2 == 0;
    const bool granted =
        whole ? ledger.reserve(operation.posted, {{file.target, -file.usage}, {operation.to, operation.usage}})
                    .has_value()
              : ledger.reserve(operation.posted, {{file.target, -file.usage}}).has_value() &&
                    ledger.reserve(operation.posted, {{operation.to, operation.usage}}).has_value();
    if (!granted) {
      ledger.cancel(operation.posted);
      continue;
    }
    file.busy = true;
    under_way.push_back(std::move(operation));
  }
  while (!under_way.empty()) end_one();

  std::map<Account*, CountersChange> all;
  std::map<OwnerKey, CountersChange> owners;
  for (const File& file : files) {
    UsageClass of = file.target.of;
    for (Account* a = file.target.account.get(); a != nullptr; a = a->parent.get()) {
      of = class_in(*a, of);
      const CountersChange change = change_of(file.usage, of, a->reserved.excluded());
      all[a] = all[a] + change;
      if (a != team.get()) continue;
      for (const OwnerKey& owner : {file.target.owner.user(), file.target.owner.group()})
        owners[owner] = owners[owner] + change;
    }
  }
  for (const AccountRef& account : accounts) {
    const CountersChange right = all[account.get()];
    EXPECT_EQ(ledger.read(account).usage, right.all);
    EXPECT_EQ(ledger.read(account).by_class, right.by_class);
    EXPECT_EQ(account->reserved.total.counted(), right.counted);
  }
  for (const auto& [owner, right] : owners) {
    EXPECT_EQ(ledger.read(team, owner)->usage, right.all);
    EXPECT_EQ(ledger.read(team, owner)->by_class, right.by_class);
    const auto& by_owner = team->reserved.owners->by_owner;
    if (const auto it = by_owner.find(owner); it != by_owner.end()) {
      EXPECT_EQ(it->second.counted(), right.counted);
    }
  }
  for (const auto& [account, usage] : all) EXPECT_FALSE(is_zero(usage.all));
}

TEST_F(LedgerClassesTest, ConcurrentWritersAndDeletersNeverExceedWhatIsCountedByAByte) {
  constexpr std::int64_t kLimit = 10'000;
  ledger.set_limits(team, {.bytes = kLimit, .excluded = kNoRecycled});
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> live{0}, recycled{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, own = child(team), t] {
      std::int64_t mine = 0, deleted = 0;
      for (int i = 0; i < 3000; ++i) {
        const std::int64_t wanted = 1 + (i + t) % 37;
        switch ((i * 7 + t) % 4) {
          case 0:
          case 1:
            if (ledger.reserve(target(own), {.bytes = wanted})) mine += wanted;
            break;
          case 2:
            if (mine >= wanted) {
              EXPECT_TRUE(move(target(own), target(user_bin), {.bytes = wanted}));
              mine -= wanted;
              deleted += wanted;
            }
            break;
          default:
            if (deleted >= wanted && move(target(user_bin), target(own), {.bytes = wanted})) {
              mine += wanted;
              deleted -= wanted;
            }
        }
        EXPECT_LE(counted(team), kLimit);
      }
      live += mine;
      recycled += deleted;
    });
  }
  for (std::thread& thread : threads) thread.join();
  expect(team, live, recycled, 0);
  EXPECT_EQ(counted(team), live);
  EXPECT_EQ(ledger.check(target(team), {.bytes = kLimit - live + 1}).error().code, Errc::kQuota);
  EXPECT_TRUE(ledger.check(target(team), {.bytes = kLimit - live}));
}

}  // namespace
}  // namespace stoa::core
