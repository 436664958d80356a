// Rounds of work: their times, no overlap of one kind with itself, and the wait of a removal.
#include "core/head/rounds.h"

#include <gtest/gtest.h>

#include <atomic>

namespace stoa::core::test {
namespace {

using namespace std::chrono_literals;

// A counter of events that a test can wait for.
class Times {
 public:
  void add() {
    ++count_;
    count_.notify_all();
  }
  void wait_for(int at_least) const {
    for (int seen = count_; seen < at_least; seen = count_) count_.wait(seen);
  }
  int count() const { return count_; }

 private:
  std::atomic<int> count_{0};
};

TEST(RoundsTest, ComeAgainAfterTheirPeriod) {
  Rounds rounds(1);
  Times ran;
  const auto id = rounds.add(1ms, [&] { ran.add(); });
  ran.wait_for(3);
  rounds.remove(id);
}

TEST(RoundsTest, RunWhenTheyAreCalled) {
  Rounds rounds(1);
  Times ran;
  const auto id = rounds.add(24h, [&] { ran.add(); });
  rounds.call(id);
  ran.wait_for(1);
  rounds.call(id);
  ran.wait_for(2);
  rounds.remove(id);
}

TEST(RoundsTest, CalledWhileOneRunsComeOnceMoreAndNeverBesideIt) {
  Rounds rounds(2);
  Times began, go;
  std::atomic<int> inside = 0;
  const auto id = rounds.add(24h, [&] {
    EXPECT_EQ(++inside, 1);
    began.add();
    go.wait_for(1);
    --inside;
  });
  const auto other = rounds.add(24h, [] {});  // so that there is a thread for it
  rounds.call(id);
  began.wait_for(1);
  rounds.call(id);
  rounds.call(id);
  go.add();
  began.wait_for(2);
  rounds.remove(id);
  rounds.remove(other);
  EXPECT_EQ(began.count(), 2);
}

TEST(RoundsTest, ThatHangDelayNoOthersWhileThereAreThreads) {
  Rounds rounds(2);
  Times hangs, other;
  const auto first = rounds.add(24h, [&] {
    hangs.add();
    other.wait_for(1);
  });
  const auto second = rounds.add(24h, [&] { other.add(); });
  rounds.call(first);
  hangs.wait_for(1);
  rounds.call(second);
  rounds.remove(first);
  rounds.remove(second);
}

TEST(RoundsTest, RemovingWaitsForTheOneThatRuns) {
  Rounds rounds(1);
  Times began, go;
  std::atomic<bool> ended = false;
  const auto id = rounds.add(24h, [&] {
    began.add();
    go.wait_for(1);
    ended = true;
  });
  rounds.call(id);
  began.wait_for(1);
  std::thread helper([&] { go.add(); });
  rounds.remove(id);
  EXPECT_TRUE(ended);
  helper.join();
  rounds.call(id);  // is gone
}

}  // namespace
}  // namespace stoa::core::test
