#include "core/state/lock_ranges.h"

#include <random>

#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class LockTest : public TableTest {
 protected:
  void SetUp() override {
    holder_ = client().id;
    a_ = {holder_, "a"};
    b_ = {holder_, "b"};
  }
  bool lock(const LockOwner& owner, LockRange range, bool exclusive) {
    const auto locked = table().lock(kFile, owner, range, exclusive);
    EXPECT_TRUE(locked);
    return locked && !*locked;
  }
  HolderId holder_;
  LockOwner a_, b_;
};

TEST_F(LockTest, NamesTheFirstLockInTheWay) {
  ASSERT_TRUE(lock(a_, {100, 10}, true));
  ASSERT_TRUE(lock(a_, {50, 10}, false));
  const auto blocked = table().lock(kFile, b_, {0, LockRange::kToEnd}, true);
  ASSERT_TRUE(blocked && *blocked);
  EXPECT_EQ(**blocked, (HeldLock{a_, {50, 10}, false}));
  const auto shared = table().test_lock(kFile, b_, {0, LockRange::kToEnd}, false);
  ASSERT_TRUE(shared && *shared);
  EXPECT_EQ(**shared, (HeldLock{a_, {100, 10}, true}));
}

TEST_F(LockTest, SplitsMergesUpgradesAndDowngrades) {
  ASSERT_TRUE(lock(a_, {0, 100}, true));
  ASSERT_TRUE(lock(a_, {40, 20}, false));  // X [0,40) S [40,60) X [60,100)
  EXPECT_TRUE(lock(b_, {40, 20}, false));
  EXPECT_FALSE(lock(b_, {39, 1}, false));
  EXPECT_FALSE(lock(b_, {60, 1}, false));
  EXPECT_FALSE(lock(a_, {40, 20}, true));  // b shares it
  table().unlock_all(kFile, b_);
  EXPECT_TRUE(lock(a_, {40, 20}, true));
  const auto whole = table().test_lock(kFile, b_, {99, 1}, false);
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ((*whole)->range, (LockRange{0, 100}));  // one again
  ASSERT_TRUE(table().unlock(kFile, a_, {10, 80}));
  EXPECT_TRUE(lock(b_, {10, 80}, true));
  EXPECT_FALSE(lock(b_, {9, 1}, true));
  EXPECT_FALSE(lock(b_, {90, 1}, true));
}

TEST_F(LockTest, ReachesTheLastByteAndNotBeyond) {
  EXPECT_TRUE(lock(a_, {kEnd, 1}, true));
  const auto seen = table().test_lock(kFile, b_, {0, LockRange::kToEnd}, true);
  ASSERT_TRUE(seen && *seen);
  EXPECT_EQ((*seen)->range, (LockRange{kEnd, LockRange::kToEnd}));
  EXPECT_EQ(code(table().lock(kFile, a_, {kEnd, 2}, true)), Errc::kInvalid);
  EXPECT_EQ(code(table().lock(kFile, a_, {3, kEnd - 1}, true)), Errc::kInvalid);
  EXPECT_EQ(code(table().lock(kFile, a_, {1, 0}, true)), Errc::kInvalid);
  EXPECT_EQ(code(table().unlock(kFile, a_, {1, 0})), Errc::kInvalid);
  EXPECT_TRUE(lock(a_, {2, kEnd - 2}, true));  // up to 2^64-2: joins the last byte
  const auto joined = table().test_lock(kFile, b_, {kEnd, 1}, true);
  ASSERT_TRUE(joined && *joined);
  EXPECT_EQ((*joined)->range, (LockRange{2, LockRange::kToEnd}));
}

TEST_F(LockTest, TellsWhoHasLocks) {
  EXPECT_FALSE(table().has_locks(kFile, a_));
  EXPECT_FALSE(table().holds_state(holder_));
  ASSERT_TRUE(lock(a_, {0, 10}, false));
  EXPECT_TRUE(table().has_locks(kFile, a_));
  EXPECT_FALSE(table().has_locks(kFile, b_));
  EXPECT_FALSE(table().has_locks(kOther, a_));
  EXPECT_TRUE(table().holds_state(holder_));
  ASSERT_TRUE(table().unlock(kFile, a_, {0, LockRange::kToEnd}));
  EXPECT_FALSE(table().has_locks(kFile, a_));
  EXPECT_FALSE(table().holds_state(holder_));
}

TEST_F(LockTest, StopsAtTheLimitAndChangesNothing) {
  table_.reset();
  options_.locks_max = 3;
  SetUp();
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(lock(a_, {i * 10, 5}, true));
  EXPECT_EQ(code(table().lock(kFile, a_, {30, 5}, true)), Errc::kBusy);
  EXPECT_EQ(code(table().unlock(kFile, a_, {1, 1})), Errc::kBusy);  // would make two of one
  EXPECT_FALSE(lock(b_, {1, 1}, true));
  EXPECT_TRUE(lock(a_, {0, 40}, true));  // makes one of three
  EXPECT_TRUE(lock(b_, {40, 1}, true));
  EXPECT_TRUE(lock(b_, {50, 1}, true));
}

// The locks of each owner byte by byte, in a window anywhere up to 2^64-1.
TEST_F(LockTest, AgreesWithAnObviousTwin) {
  constexpr std::size_t kBytes = 48;
  for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{1} << 40, kEnd - (kBytes - 1)}) {
    std::mt19937_64 random(base + 7);
    std::array<std::array<int, kBytes>, 3> twin{};  // 0 nothing, 1 shared, 2 exclusive
    const auto owner = [&](std::size_t i) { return LockOwner{holder_, std::string(1, static_cast<char>('p' + i))}; };
    for (int step = 0; step < 20'000; ++step) {
      const std::size_t who = random() % twin.size();
      const std::size_t first = random() % kBytes;
      const std::size_t last = first + random() % (kBytes - first);
      LockRange range{base + first, last - first + 1};
      if (base + last == kEnd && random() % 2 == 0) range.length = LockRange::kToEnd;
      const bool exclusive = random() % 2 == 0;
      switch (random() % 8) {
        case 0:
          table().unlock_all(kFile, owner(who));
          twin[who].fill(0);
          break;
        case 1:
        case 2:
        case 3:
          ASSERT_TRUE(table().unlock(kFile, owner(who), range));
          std::fill(twin[who].begin() + first, twin[who].begin() + last + 1, 0);
          break;
        default: {
          bool free = true;
          for (std::size_t other = 0; other < twin.size(); ++other) {
            for (std::size_t at = first; at <= last && other != who; ++at) {
              free &= twin[other][at] == 0 || (!exclusive && twin[other][at] == 1);
            }
          }
          const auto tested = table().test_lock(kFile, owner(who), range, exclusive);
          const auto got = table().lock(kFile, owner(who), range, exclusive);
          ASSERT_TRUE(got && tested);
          ASSERT_EQ(*got, *tested);
          ASSERT_EQ(!got->has_value(), free) << "step " << step;
          if (free) {
            std::fill(twin[who].begin() + first, twin[who].begin() + last + 1, exclusive ? 2 : 1);
          } else {
            // A run of equal bytes of its owner, from end to end, that overlaps the requested
            // range.
            const HeldLock& held = **got;
            const std::size_t whose = static_cast<std::size_t>(held.owner.name[0] - 'p');
            const std::size_t from = held.range.offset - base;
            const std::size_t to = held.range.length == LockRange::kToEnd ? kBytes - 1 : from + held.range.length - 1;
            const int kind = held.exclusive ? 2 : 1;
            ASSERT_NE(whose, who);
            ASSERT_TRUE(from <= last && to >= first);
            for (std::size_t at = from; at <= to; ++at) ASSERT_EQ(twin[whose][at], kind);
            ASSERT_TRUE(from == 0 || twin[whose][from - 1] != kind);
            ASSERT_TRUE(to == kBytes - 1 || twin[whose][to + 1] != kind);
          }
        }
      }
      for (std::size_t i = 0; i < twin.size(); ++i) {
        const bool any = std::ranges::any_of(twin[i], [](int kind) { return kind != 0; });
        ASSERT_EQ(table().has_locks(kFile, owner(i)), any) << "step " << step;
      }
    }
    for (std::size_t i = 0; i < twin.size(); ++i) table().unlock_all(kFile, owner(i));
    EXPECT_FALSE(table().holds_state(holder_));
  }
}

}  // namespace
}  // namespace stoa::core::test
