#include "core/audit/transfer_tally.h"

#include <gmock/gmock.h>

#include <thread>

namespace stoa::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TransferTallyTest, AddsUpByUserAndForgetsWhatWasTaken) {
  TransferTally tally;
  EXPECT_THAT(tally.take(), IsEmpty());
  tally.add({.uid = 17, .written = 5});
  tally.add({.uid = 1, .read = 2});
  tally.add({.uid = 17, .read = 1, .written = 5});
  EXPECT_THAT(tally.take(), ElementsAre(Transfer{1, 2, 0}, Transfer{17, 1, 10}));
  EXPECT_THAT(tally.take(), IsEmpty());
}

TEST(TransferTallyTest, UsersWithoutEndShareOneNumber) {
  TransferTally tally;
  constexpr std::uint32_t kUsers = 3 * TransferTally::kUsersMax;
  for (std::uint32_t uid = 0; uid < kUsers; ++uid) tally.add({.uid = uid, .read = 1});
  const auto all = tally.take();
  EXPECT_LE(all.size(), TransferTally::kUsersMax + 1);
  EXPECT_EQ(all.back().uid, TransferTally::kOthers);
  std::uint64_t total = 0;
  for (const Transfer& one : all) total += one.read;
  EXPECT_EQ(total, kUsers);
}

TEST(TransferTallyTest, NothingIsLostBetweenThreads) {
  TransferTally tally;
  constexpr std::uint64_t kEach = 20'000;
  std::uint64_t total = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&tally, thread] {
        for (std::uint64_t i = 0; i < kEach; ++i)
          tally.add({.uid = static_cast<std::uint32_t>(i % 3 + thread % 2), .written = 1});
      });
    }
    for (int i = 0; i < 100; ++i) {
      for (const Transfer& one : tally.take()) total += one.written;
    }
  }
  for (const Transfer& one : tally.take()) total += one.written;
  EXPECT_EQ(total, 4 * kEach);
}

}  // namespace
}  // namespace stoa::core
