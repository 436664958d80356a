#include "base/deadline.h"

#include <gtest/gtest.h>

#include "base/rw_lock.h"

namespace stoa {
namespace {

Deadline passed() {
  return Deadline(Deadline::Clock::now() - std::chrono::seconds(1));
}

TEST(DeadlineTest, NoneIsNeverPassed) {
  EXPECT_FALSE(Deadline().passed());
  EXPECT_TRUE(Deadline().is_never());
  EXPECT_TRUE(passed().passed());
  EXPECT_FALSE(Deadline::in(std::chrono::hours(1)).passed());
}

TEST(DeadlineTest, TheTickIsOfTheSteadyClock) {
  const auto before = steady_tick();
  EXPECT_LE(before, Deadline::Clock::now());
  EXPECT_GE(Deadline::Clock::now() + std::chrono::seconds(1), before);
}

TEST(DeadlineTest, AConditionIsNotWaitedForWhenItIsTooLate) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock lock(mutex);
  EXPECT_FALSE(passed().wait(changed, lock));
}

TEST(DeadlineTest, AFreeLockIsTakenAlsoWhenItIsTooLate) {
  RwLock lock;
  {
    const auto held = lock_by(lock, passed());
    ASSERT_TRUE(held);
    EXPECT_TRUE(held->owns_lock());
    EXPECT_FALSE(lock.try_lock_shared());
  }
  const auto held = share_by(lock, passed());
  ASSERT_TRUE(held);
  EXPECT_FALSE(lock.try_lock());
}

TEST(DeadlineTest, ALockThatIsHeldIsWaitedForUntilTheDeadline) {
  RwLock lock;
  const std::unique_lock held(lock);
  for (const Deadline& deadline : {passed(), Deadline::in(std::chrono::milliseconds(20))}) {
    EXPECT_EQ(lock_by(lock, deadline).error().code, Errc::kTimeout);
    EXPECT_EQ(share_by(lock, deadline).error().code, Errc::kTimeout);
    EXPECT_TRUE(deadline.at() <= Deadline::Clock::now());
  }
}

}  // namespace
}  // namespace stoa
