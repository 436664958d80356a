// Cached QoS classes of a node: valid for one table and one number of moves, and never parts of two answers.
#include "core/inode/qos_memo.h"

#include <gtest/gtest.h>

#include <thread>

namespace stoa::core {
namespace {

using QosClasses = std::vector<qos::QosClass*>;

// QoS classes are only named here.
qos::QosClass* named(std::uint64_t number) {
  return reinterpret_cast<qos::QosClass*>(number);
}

TEST(QosMemoTest, IsTrueForItsStampOnly) {
  QosMemo memo;
  QosClasses found{named(64)};
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 0}, found));
  memo.remember({.table = 5, .moves = 7}, QosClasses{named(128), named(192)});
  EXPECT_FALSE(memo.recall({.table = 4, .moves = 7}, found));
  EXPECT_FALSE(memo.recall({.table = 6, .moves = 7}, found));
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 6}, found));
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 8}, found));
  EXPECT_EQ(found, QosClasses{named(64)}) << "nothing was appended";
  for (int time = 0; time < 2; ++time) {
    found = {named(64)};
    EXPECT_TRUE(memo.recall({.table = 5, .moves = 7}, found));
    EXPECT_EQ(found, QosClasses({named(64), named(128), named(192)}));
  }
  memo.forget();
  EXPECT_FALSE(memo.recall({.table = 5, .moves = 7}, found));
}

TEST(QosMemoTest, KeepsFromNoneToItsMost) {
  QosMemo memo;
  QosClasses qos_classes;
  for (std::uint64_t count = 0; count <= QosMemo::kQosClassesMax; ++count) {
    memo.remember({.table = 1, .moves = count}, qos_classes);
    QosClasses found;
    EXPECT_TRUE(memo.recall({.table = 1, .moves = count}, found));
    EXPECT_EQ(found, qos_classes);
    qos_classes.push_back(named(64 * (count + 1)));
  }
  memo.remember({.table = 2}, {});
  QosClasses found;
  EXPECT_TRUE(memo.recall({.table = 2}, found));
  EXPECT_TRUE(found.empty()) << "nothing is left of a longer answer";
}

TEST(QosMemoTest, WhoeverRecallsWhileOthersRememberGetsOneWholeAnswer) {
  QosMemo memo;
  constexpr std::uint64_t kTurns = 100'000;
  // The answer for a stamp: this many QoS classes of that number.
  const auto answer = [](std::uint64_t moves) {
    return QosClasses(moves % (QosMemo::kQosClassesMax + 1), named(64 * (moves % 8 + 1)));
  };
  std::atomic<bool> done{false};
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      std::uint64_t moves = 0;
      QosClasses found;
      while (!done.load()) {
        found.clear();
        const bool known = memo.recall({.table = 1, .moves = moves}, found);
        EXPECT_EQ(found, known ? answer(moves) : QosClasses{});
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
