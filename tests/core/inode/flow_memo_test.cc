// What a node remembers of flows: by whose table and after which moves, and never parts of two answers.
#include "core/inode/flow_memo.h"

#include <gtest/gtest.h>

#include <thread>

namespace stoa::core {
namespace {

using Flows = std::vector<qos::Flow*>;

// Flows are only named here.
qos::Flow* named(std::uint64_t number) {
  return reinterpret_cast<qos::Flow*>(number);
}

TEST(FlowMemoTest, IsTrueForItsStampOnly) {
  FlowMemo memo;
  Flows found{named(64)};
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 0}, found));
  memo.remember({.table = 5, .moves = 7}, Flows{named(128), named(192)});
  EXPECT_FALSE(memo.recall({.table = 4, .moves = 7}, found));
  EXPECT_FALSE(memo.recall({.table = 6, .moves = 7}, found));
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 6}, found));
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 8}, found));
  EXPECT_EQ(found, Flows{named(64)}) << "nothing was appended";
  for (int time = 0; time < 2; ++time) {
    found = {named(64)};
    EXPECT_TRUE(memo.recall({.table = 5, .moves = 7}, found));
    EXPECT_EQ(found, Flows({named(64), named(128), named(192)}));
  }
  memo.forget();
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 7}, found));
}

TEST(FlowMemoTest, KeepsFromNoneToItsMost) {
  FlowMemo memo;
  Flows flows;
  for (std::uint64_t count = 0; count <= FlowMemo::kFlowsMax; ++count) {
    memo.remember({.table = 1, .moves = count}, flows);
    Flows found;
    EXPECT_TRUE(memo.recall({.table = 1, .moves = count}, found));
    EXPECT_EQ(found, flows);
    flows.push_back(named(64 * (count + 1)));
  }
  memo.remember({.table = 2}, {});
  Flows found;
  EXPECT_TRUE(memo.recall({.table = 2}, found));
  EXPECT_TRUE(found.empty()) << "nothing is left of a longer answer";
}

TEST(FlowMemoTest, WhoeverRecallsWhileOthersRememberGetsOneWholeAnswer) {
  FlowMemo memo;
  constexpr std::uint64_t kTurns = 100'000;
  // The answer for a stamp: so many flows of that number.
  const auto answer = [](std::uint64_t moves) {
    return Flows(moves % (FlowMemo::kFlowsMax + 1), named(64 * (moves % 8 + 1)));
  };
  std::atomic<bool> done{false};
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      std::uint64_t moves = 0;
      Flows found;
      while (!done.load()) {
        found.clear();
        const bool known = memo.recall({.table = 1, .moves = moves}, found);
        EXPECT_EQ(found, known ? answer(moves) : Flows{});
        moves = (moves + 1) % 40;
      }
    });
  }
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&] {
      for (std::uint64_t turn = 0; turn < kTurns; ++turn)
        memo.remember({.table = 1, .moves = turn % 40}, answer(turn % 40));
    });
  }
  writers.clear();
  done.store(true);
}

}  // namespace
}  // namespace stoa::core
