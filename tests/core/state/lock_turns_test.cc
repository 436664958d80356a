// Polling for byte-range locks: turns, callbacks, and clients that have given up.
#include <thread>

#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class LockTurnsTest : public TableTest {
 protected:
  static constexpr HandleBytes kHandle{std::byte{1}, std::byte{2}};
  struct Asker {
    HolderId id;
    std::shared_ptr<int> called = std::make_shared<int>(0);
    std::shared_ptr<int> granted = std::make_shared<int>(0);
  };
  Asker asker() {
    Asker made;
    HolderCallbacks* const events = callbacks();
    events->granted = [n = made.granted](const LockGranted&) { ++*n; };
    events->turn = [n = made.called](const LockTurn& turn) {
      EXPECT_EQ(turn.handle, kHandle);
      ++*n;
    };
    made.id = table().add_holder(Protocol::kNfs, events);
    return made;
  }
  static LockRequest request(const Asker& who, LockRange range = {0, 10}, bool exclusive = true, FileId file = kFile) {
    return {file, {who.id, "o"}, range, exclusive};
  }
  // "granted", the owner of the conflicting lock or turn, or the error. Without `callable`: no
  // callback.
  std::string ask(const Asker& who, LockRange range = {0, 10}, bool exclusive = true, bool callable = true) {
    const auto handle = callable ? std::optional(kHandle) : std::nullopt;
    return told(table().lock_in_turn(request(who, range, exclusive), handle));
  }
  std::string take(const Asker& who, LockRange range = {0, 10}, bool exclusive = true) {
    return told(table().lock(kFile, {who.id, "o"}, range, exclusive));
  }
  static std::string told(const Result<std::optional<HeldLock>>& got) {
    if (!got) return std::string(to_string(got.error().code));
    return *got ? "by " + std::to_string(static_cast<std::uint64_t>((*got)->owner.holder)) : "granted";
  }
  static std::string by(const Asker& who) { return "by " + std::to_string(static_cast<std::uint64_t>(who.id)); }
  void release(const Asker& who, LockRange range = {0, 10}) {
    ASSERT_TRUE(table().unlock(kFile, {who.id, "o"}, range));
  }
  std::string waits() {
    const std::string text = metrics_.render();
    const auto at = text.find("\nstoa_byte_range_lock_waits ") + 28;
    return text.substr(at, text.find('\n', at) - at);
  }
};

TEST_F(LockTurnsTest, WhatIsFreeIsGrantedAndNobodyWaits) {
  const Asker a = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(waits(), "0");
  EXPECT_TRUE(table().has_locks(kFile, {a.id, "o"}));
  EXPECT_EQ(code(table().lock_in_turn(request(a, {5, 0}), {})), Errc::kInvalid);
  EXPECT_EQ(code(table().lock_in_turn(request({HolderId{77}}, {5, 1}), {})), Errc::kInvalid);
}

TEST_F(LockTurnsTest, WhoCameFirstIsCalledFirstAndNobodyWhoAsksPassesHim) {
  const Asker a = asker(), b = asker(), c = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b), by(a));
  EXPECT_EQ(ask(c), by(a));
  EXPECT_EQ(ask(b), by(a));  // still the first
  EXPECT_EQ(waits(), "2");
  release(a);
  EXPECT_EQ(*b.called, 1);
  EXPECT_EQ(*c.called, 0);
  EXPECT_FALSE(table().has_locks(kFile, {b.id, "o"}));  // it is granted nothing by itself
  EXPECT_EQ(ask(c), by(b));
  EXPECT_EQ(ask(a), by(b));
  EXPECT_EQ(ask(b), "granted");
  release(b);
  EXPECT_EQ(*c.called, 1);
  EXPECT_EQ(*b.called, 1);
  EXPECT_EQ(ask(a), by(c));
  EXPECT_EQ(ask(c), "granted");
  release(c);
  EXPECT_EQ(*a.called, 1);
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(waits(), "0");
}

TEST_F(LockTurnsTest, WhoDoesNotWaitTakesWhatIsFree) {
  const Asker a = asker(), b = asker(), c = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b), by(a));
  release(a);
  EXPECT_EQ(take(c), "granted");
  EXPECT_EQ(ask(b), by(c));
  release(c);
  EXPECT_EQ(*b.called, 2);
  EXPECT_EQ(ask(b), "granted");
}

TEST_F(LockTurnsTest, SharedOnesHaveTheirTurnTogether) {
  const Asker a = asker(), b = asker(), c = asker(), d = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b, {0, 5}, false), by(a));
  EXPECT_EQ(ask(c, {2, 5}, false), by(a));
  EXPECT_EQ(ask(d, {4, 1}), by(a));
  release(a);
  EXPECT_EQ(*b.called + *c.called, 2);
  EXPECT_EQ(*d.called, 0);
  EXPECT_EQ(ask(c, {2, 5}, false), "granted");
  EXPECT_EQ(ask(b, {0, 5}, false), "granted");
  release(b);
  EXPECT_EQ(*d.called, 0);
  release(c);
  EXPECT_EQ(*d.called, 1);
}

TEST_F(LockTurnsTest, ATurnThatNobodyTakesPasses) {
  const Asker a = asker(), b = asker(), c = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b), by(a));
  EXPECT_EQ(ask(c), by(a));
  release(a);
  now_ += StateTable::kTurnCalled;
  table().retry_waits();
  EXPECT_EQ(*c.called, 1);
  EXPECT_EQ(ask(b), by(c));  // it has lost its place
  EXPECT_EQ(ask(c), "granted");
}

TEST_F(LockTurnsTest, WhoCannotBeCalledHasUntilHeWouldHaveAskedAgain) {
  using std::chrono::seconds;
  const Asker a = asker(), b = asker(), c = asker();
  const auto ask_uncalled = [&](const Asker& who) { return ask(who, {0, 10}, true, false); };
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask_uncalled(b), by(a));
  // It polls after 1, 2, 4 ... seconds, as clients do, and keeps its place.
  for (int away = 1; away < 32; away *= 2) {
    now_ += seconds(away);
    table().retry_waits();
    EXPECT_EQ(waits(), "1");
    EXPECT_EQ(ask_uncalled(b), by(a));
  }
  release(a);
  now_ += StateTable::kTurnAskedFor - seconds(1);
  EXPECT_EQ(ask_uncalled(c), by(b));
  now_ += seconds(1);
  EXPECT_EQ(ask_uncalled(c), "granted");
  // The first time its interval is unknown.
  EXPECT_EQ(ask_uncalled(a), by(c));
  EXPECT_EQ(ask_uncalled(b), by(c));
  release(c);
  now_ += StateTable::kTurnCalled - seconds(1);
  EXPECT_EQ(ask_uncalled(b), by(a));
  now_ += seconds(1);
  EXPECT_EQ(ask_uncalled(b), "granted");
  EXPECT_EQ(*a.called + *b.called + *c.called, 0);
}

TEST_F(LockTurnsTest, WhoAsksNoMoreIsForgotten) {
  const Asker a = asker(), b = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b), by(a));
  EXPECT_TRUE(table().holds_state(b.id));
  now_ += StateTable::kTurnAskedFor;
  table().retry_waits();
  EXPECT_EQ(waits(), "0");
  EXPECT_FALSE(table().holds_state(b.id));
  release(a);
  EXPECT_EQ(*b.called, 0);
}

TEST_F(LockTurnsTest, ThereIsOneOrderWithThoseWhoWait) {
  const Asker a = asker(), b = asker(), c = asker(), d = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b), by(a));
  EXPECT_FALSE(*table().lock_or_wait(request(c)));
  EXPECT_EQ(ask(d), by(a));
  release(a);
  EXPECT_EQ(*b.called, 1);
  EXPECT_EQ(*c.granted, 0);
  EXPECT_EQ(ask(b), "granted");
  release(b);
  EXPECT_EQ(*c.granted, 1);
  EXPECT_EQ(*d.called, 0);
  release(c);
  EXPECT_EQ(*d.called, 1);
}

TEST_F(LockTurnsTest, WhoWaitsIsServedWhenATurnIsNotTaken) {
  const Asker a = asker(), b = asker(), c = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b), by(a));
  EXPECT_FALSE(*table().lock_or_wait(request(c)));
  release(a);
  now_ += StateTable::kTurnCalled;
  table().retry_waits();
  EXPECT_EQ(*c.granted, 1);
}

TEST_F(LockTurnsTest, TheOthersGoOnWhenOneGoes) {
  const Asker a = asker(), b = asker(), c = asker();
  EXPECT_EQ(ask(a), "granted");
  EXPECT_EQ(ask(b), by(a));
  EXPECT_EQ(ask(c), by(a));
  release(a);
  table().remove_holder(b.id);
  EXPECT_EQ(*c.called, 1);
  table().remove_holder(c.id);
  EXPECT_EQ(waits(), "0");
  EXPECT_EQ(ask(a), "granted");
}

TEST_F(LockTurnsTest, NobodyIsInADeadlockOverWhoMayHaveGivenUp) {
  const Asker a = asker(), b = asker();
  EXPECT_EQ(take(a, {0, 1}), "granted");
  EXPECT_EQ(take(b, {1, 1}), "granted");
  EXPECT_EQ(ask(a, {1, 1}), by(b));
  EXPECT_FALSE(*table().lock_or_wait(request(b, {0, 1})));  // waits
  release(a, {0, 1});                                       // it has given up
  EXPECT_EQ(*b.granted, 1);
}

TEST_F(LockTurnsTest, ACycleOverTheOrderOfArrivalLetsSomebodyPass) {
  const Asker a = asker(), b = asker();
  EXPECT_EQ(take(a, {0, 1}, false), "granted");
  EXPECT_EQ(ask(b, {0, 10}), by(a));     // a is in its way
  EXPECT_EQ(ask(a, {5, 1}), "granted");  // and would wait for its turn behind it
  EXPECT_FALSE(*table().lock_or_wait(request(b, {0, 10})));
  release(a, {0, 10});
  EXPECT_EQ(*b.granted, 1);
}

TEST_F(LockTurnsTest, LeasesAreRecalledAndTheTurnComesWhenTheyAreReturned) {
  const Client reader = client();
  const Asker a = asker();
  const auto lease = grant(table(), kFile, reader.id, kReadDelegation);
  ASSERT_TRUE(lease);
  EXPECT_EQ(code(table().lock_in_turn(request(a), kHandle)), Errc::kRecallPending);
  EXPECT_EQ(reader.recalled->size(), 1u);
  table().return_lease(*lease);
  EXPECT_EQ(*a.called, 1);
  EXPECT_EQ(ask(a), "granted");
}

TEST_F(LockTurnsTest, AreBoundedAndThenNobodyHasATurn) {
  const Asker a = asker(), b = asker(), c = asker();
  EXPECT_EQ(take(a, {0, LockRange::kToEnd}), "granted");
  for (std::uint64_t i = 0; i < LockWaits::kPerHolder; ++i) EXPECT_EQ(ask(b, {i, 1}, false), by(a));
  EXPECT_EQ(ask(b, {5000, 1}, false), by(a));
  EXPECT_EQ(ask(c, {5000, 1}, true), by(a));
  EXPECT_EQ(waits(), std::to_string(LockWaits::kPerHolder));
  release(a, {0, LockRange::kToEnd});
  EXPECT_EQ(*b.called, static_cast<int>(LockWaits::kPerHolder));
  EXPECT_EQ(*c.called, 0);
  EXPECT_EQ(ask(c, {5000, 1}, true), "granted");
}

TEST_F(LockTurnsTest, AnErrorLeavesNobodyWaiting) {
  options_.of_holder.locks = 1;
  const Asker a = asker(), b = asker(), c = asker();
  EXPECT_EQ(take(b, {100, 1}), "granted");
  EXPECT_EQ(take(a), "granted");
  EXPECT_EQ(ask(c), by(a));
  EXPECT_EQ(code(table().lock_in_turn(request(b, {50, 1}), {})), Errc::kBusy);
  EXPECT_EQ(waits(), "1");
}

TEST_F(LockTurnsTest, OfManyThreadsEachGetsItsTurn) {
  constexpr int kThreads = 4, kRounds = 200;
  options_.now = StateClock::now;
  table();
  int inside = 0, entered = 0;  // guarded by the lock
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::atomic<int> turns = 0;
      HolderCallbacks* const events = callbacks();
      events->turn = [&](const LockTurn&) {
        ++turns;
        turns.notify_one();
      };
      const HolderId me = table().add_holder(Protocol::kNfs, events);
      const LockRequest wanted{kFile, {me, std::to_string(i)}, {0, 10}, true};
      for (int round = 0; round < kRounds; ++round) {
        for (;;) {
          const int before = turns;
          const auto got = table().lock_in_turn(wanted, kHandle);
          ASSERT_TRUE(got);
          if (!*got) break;
          turns.wait(before);
        }
        EXPECT_EQ(++inside, 1);
        ++entered;
        --inside;
        ASSERT_TRUE(table().unlock(kFile, wanted.owner, wanted.range));
      }
      table().remove_holder(me);
    });
  }
  threads.clear();
  EXPECT_EQ(entered, kThreads * kRounds);
}

}  // namespace
}  // namespace stoa::core::test
