// Waiting for byte-range locks: order, cycles, and holders that end meanwhile.
#include <condition_variable>
#include <random>
#include <thread>

#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class LockWaitsTest : public TableTest {
 protected:
  struct Waiter {
    HolderId id;
    std::shared_ptr<std::vector<LockRequest>> granted = std::make_shared<std::vector<LockRequest>>();
  };
  Waiter waiter(std::string_view peer = {}) {
    Waiter made;
    made.id = table().add_holder(
        Protocol::kNfs, on_grant([list = made.granted](const LockGranted& event) { list->push_back(event.lock); }),
        peer);
    return made;
  }
  static LockRequest request(const Waiter& who, LockRange range, bool exclusive = true, FileId file = kFile,
                             std::string owner = "o") {
    return {file, {who.id, std::move(owner)}, range, exclusive};
  }
  void hold(const LockRequest& lock) {
    const auto locked = table().lock(lock.file, lock.owner, lock.range, lock.exclusive);
    ASSERT_TRUE(locked && !*locked);
  }
  void release(const LockRequest& lock) { ASSERT_TRUE(table().unlock(lock.file, lock.owner, lock.range)); }
  // "granted", "waits", or the error.
  std::string ask(const LockRequest& lock) {
    const auto got = table().lock_or_wait(lock);
    return !got ? std::string(to_string(got.error().code)) : *got ? "granted" : "waits";
  }
  std::string gauge() {
    const std::string text = metrics_.render();
    const auto at = text.find("\nstoa_byte_range_lock_waits ") + 28;
    return text.substr(at, text.find('\n', at) - at);
  }
};

// A thousand that ask again and again for one file must not each look at all others.
TEST_F(LockWaitsTest, WhereNobodyWhoHoldsWaitsNoCycleIsSearched) {
  LockWaits waits;
  LockWait* last = nullptr;
  for (std::uint64_t i = 1; i <= 100; ++i)
    last = waits.add({kFile, {HolderId{i}, "o"}, {0, 10}, true}, {0, 9}, nullptr);
  int looks = 0;
  const LockWaits::Holding holding = [&](const LockWait&) {
    ++looks;
    return std::vector<LockOwner>{{HolderId{500}, "o"}};
  };
  EXPECT_FALSE(waits.is_deadlock(*last, holding));
  EXPECT_EQ(waits.let_one_pass(*last, holding), nullptr);
  EXPECT_EQ(looks, 2);
}

TEST_F(LockWaitsTest, WhatIsFreeIsGrantedAtOnce) {
  const Waiter a = waiter();
  EXPECT_EQ(ask(request(a, {0, 10})), "granted");
  EXPECT_TRUE(a.granted->empty());
  EXPECT_TRUE(table().has_locks(kFile, {a.id, "o"}));
  EXPECT_EQ(code(table().lock_or_wait(request(a, {5, 0}))), Errc::kInvalid);
  EXPECT_EQ(code(table().lock_or_wait(request({HolderId{77}}, {5, 1}))), Errc::kInvalid);
}

TEST_F(LockWaitsTest, AreServedInTheOrderOfArrival) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, 10}));
  EXPECT_EQ(ask(request(b, {0, 10})), "waits");
  EXPECT_EQ(ask(request(c, {0, 10})), "waits");
  EXPECT_EQ(gauge(), "2");
  EXPECT_TRUE(table().holds_state(b.id));
  release(request(a, {0, 10}));
  EXPECT_EQ(*b.granted, std::vector{request(b, {0, 10})});
  EXPECT_TRUE(c.granted->empty());
  EXPECT_EQ(ask(request(a, {0, 10})), "waits");
  table().unlock_all(kFile, {b.id, "o"});
  EXPECT_EQ(c.granted->size(), 1u);
  EXPECT_TRUE(a.granted->empty());
  release(request(c, {0, 10}));
  EXPECT_EQ(a.granted->size(), 1u);
  EXPECT_EQ(gauge(), "0");
}

TEST_F(LockWaitsTest, SharedOnesAreGrantedTogetherAndDoNotPassAnExclusiveOne) {
  const Waiter a = waiter(), b = waiter(), c = waiter(), d = waiter();
  hold(request(a, {0, 10}, false));
  EXPECT_EQ(ask(request(b, {5, 10}, true)), "waits");
  EXPECT_EQ(ask(request(c, {0, 6}, false)), "waits");    // free, but overlaps the request of b
  EXPECT_EQ(ask(request(d, {0, 5}, false)), "granted");  // blocks no waiter
  EXPECT_EQ(ask(request(d, {14, 10}, false)), "waits");
  // A request that does not wait takes a free range.
  const auto passed = table().lock(kFile, {d.id, "other"}, {14, 1}, false);
  EXPECT_TRUE(passed && !*passed);
  release(request(a, {0, 10}));
  EXPECT_TRUE(b.granted->empty());
  table().unlock_all(kFile, {d.id, "other"});
  EXPECT_EQ(b.granted->size(), 1u);
  EXPECT_TRUE(c.granted->empty() && d.granted->empty());
  release(request(b, {0, LockRange::kToEnd}));
  EXPECT_EQ(c.granted->size() + d.granted->size(), 2u);
}

TEST_F(LockWaitsTest, AreServedByPartsAndDowngrades) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, 100}));
  EXPECT_EQ(ask(request(b, {10, 10})), "waits");
  EXPECT_EQ(ask(request(c, {30, 10}, false)), "waits");
  release(request(a, {15, 5}));
  EXPECT_TRUE(b.granted->empty());
  release(request(a, {10, 5}));
  EXPECT_EQ(b.granted->size(), 1u);
  hold(request(a, {30, 10}, false));
  EXPECT_EQ(c.granted->size(), 1u);
}

TEST_F(LockWaitsTest, AreOneWhenAskedForTwice) {
  const Waiter a = waiter(), b = waiter();
  hold(request(a, {0, 1}));
  EXPECT_EQ(ask(request(b, {0, 1})), "waits");
  EXPECT_EQ(ask(request(b, {0, 1})), "waits");
  EXPECT_EQ(gauge(), "1");
  release(request(a, {0, 1}));
  EXPECT_EQ(b.granted->size(), 1u);
}

TEST_F(LockWaitsTest, EndWhenTheLockIsHadByAnotherWay) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, 1}, false));
  EXPECT_EQ(ask(request(b, {0, 1})), "waits");
  EXPECT_EQ(ask(request(c, {0, 1}, false)), "waits");
  hold(request(c, {0, 1}, false));  // passes
  EXPECT_EQ(gauge(), "1");
  release(request(a, {0, 1}));
  release(request(c, {0, 1}));
  EXPECT_EQ(b.granted->size(), 1u);
  EXPECT_TRUE(c.granted->empty());
}

TEST_F(LockWaitsTest, CanBeCancelled) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, 10}, false));
  EXPECT_EQ(ask(request(b, {0, 10}, true)), "waits");
  EXPECT_EQ(ask(request(c, {0, 10}, false)), "waits");
  EXPECT_FALSE(table().cancel_wait(request(b, {0, 10}, false)));
  EXPECT_FALSE(table().cancel_wait(request(b, {0, 9}, true)));
  EXPECT_TRUE(table().cancel_wait(request(b, {0, 10}, true)));
  EXPECT_FALSE(table().cancel_wait(request(b, {0, 10}, true)));
  EXPECT_EQ(c.granted->size(), 1u);  // no waiter is before it any more
  table().unlock_all(kFile, {a.id, "o"});
  table().unlock_all(kFile, {c.id, "o"});
  EXPECT_TRUE(b.granted->empty());
  EXPECT_FALSE(table().holds_state(b.id));
}

TEST_F(LockWaitsTest, GoWithTheirHolderAndAreServedWhenOneGoes) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, 10}));
  EXPECT_EQ(ask(request(b, {0, 10})), "waits");
  EXPECT_EQ(ask(request(c, {0, 10})), "waits");
  table().remove_holder(b.id);
  table().remove_holder(a.id);
  EXPECT_TRUE(b.granted->empty());
  EXPECT_EQ(c.granted->size(), 1u);
  EXPECT_EQ(gauge(), "0");
}

TEST_F(LockWaitsTest, RecallLeasesAndWaitForThem) {
  const Client cacher = client();
  const Waiter a = waiter();
  const auto lease = grant(table(), kFile, cacher.id, kReadDelegation);
  ASSERT_TRUE(lease);
  EXPECT_EQ(ask(request(a, {0, 10})), "waits");
  EXPECT_EQ(cacher.recalled->size(), 1u);
  table().return_lease(*lease);
  EXPECT_EQ(a.granted->size(), 1u);
}

TEST_F(LockWaitsTest, OfALeaseThatLapsesAreTriedAgain) {
  const Client cacher = client();
  const Waiter a = waiter();
  ASSERT_TRUE(grant(table(), kFile, cacher.id, kWriteDelegation));
  EXPECT_EQ(ask(request(a, {0, 10}, false)), "waits");
  table().retry_waits();
  EXPECT_TRUE(a.granted->empty());
  now_ += std::chrono::seconds(11);
  table().retry_waits();
  EXPECT_EQ(a.granted->size(), 1u);
}

TEST_F(LockWaitsTest, AreServedWhenTheHolderOfALeaseGoes) {
  const Client cacher = client();
  const Waiter a = waiter();
  ASSERT_TRUE(grant(table(), kFile, cacher.id, kWriteDelegation));
  EXPECT_EQ(ask(request(a, {0, 10})), "waits");
  table().remove_holder(cacher.id);
  EXPECT_EQ(a.granted->size(), 1u);
}

TEST_F(LockWaitsTest, KeepNoLeaseFromBeingRecalledOnlyWhenItMatters) {
  const Client cacher = client();
  const Waiter a = waiter(), b = waiter();
  hold(request(a, {0, 10}, false));
  ASSERT_TRUE(grant(table(), kFile, cacher.id, kReadDelegation));
  EXPECT_EQ(ask(request(b, {0, 10})), "waits");
  EXPECT_TRUE(cacher.recalled->empty());  // the lock still conflicts
  release(request(a, {0, 10}));
  EXPECT_EQ(cacher.recalled->size(), 1u);
}

// --- cycles

TEST_F(LockWaitsTest, TwoThatWaitForEachOtherAreADeadlock) {
  const Waiter a = waiter(), b = waiter();
  hold(request(a, {0, 1}));
  hold(request(b, {0, 1}, true, kOther));
  EXPECT_EQ(ask(request(a, {0, 1}, true, kOther)), "waits");
  EXPECT_EQ(ask(request(b, {0, 1})), "deadlock");
  EXPECT_EQ(gauge(), "1");
  release(request(b, {0, 1}, true, kOther));
  EXPECT_EQ(a.granted->size(), 1u);
}

TEST_F(LockWaitsTest, ManyInARingAreADeadlock) {
  constexpr std::size_t kRing = 50;
  std::vector<Waiter> ring;
  for (std::size_t i = 0; i < kRing; ++i) ring.push_back(waiter());
  for (std::size_t i = 0; i < kRing; ++i) hold(request(ring[i], {0, 1}, true, FileId{200 + i}));
  for (std::size_t i = 0; i + 1 < kRing; ++i) EXPECT_EQ(ask(request(ring[i], {0, 1}, true, FileId{201 + i})), "waits");
  EXPECT_EQ(ask(request(ring.back(), {0, 1}, false, FileId{200})), "deadlock");
  EXPECT_EQ(ask(request(ring.back(), {1, 1}, true, FileId{200})), "granted");
}

TEST_F(LockWaitsTest, TwoThatShareAndBothWantItAloneAreADeadlock) {
  const Waiter a = waiter(), b = waiter();
  hold(request(a, {0, 1}, false));
  hold(request(b, {0, 1}, false));
  EXPECT_EQ(ask(request(a, {0, 1}, true)), "waits");
  EXPECT_EQ(ask(request(b, {0, 1}, true)), "deadlock");
}

TEST_F(LockWaitsTest, OwnersOfOneHolderAreDistinct) {
  const Waiter a = waiter();
  hold(request(a, {0, 1}, true, kFile, "x"));
  hold(request(a, {0, 1}, true, kOther, "y"));
  EXPECT_EQ(ask(request(a, {0, 1}, true, kOther, "x")), "waits");
  EXPECT_EQ(ask(request(a, {0, 1}, true, kFile, "y")), "deadlock");
  EXPECT_EQ(ask(request(a, {0, 1}, true, kFile, "z")), "waits");
}

TEST_F(LockWaitsTest, ALockTakenWithoutWaitingMayCloseACycleWhichIsFoundWhenAskedAgain) {
  const Waiter a = waiter(), b = waiter();
  const Waiter c = waiter();
  hold(request(a, {0, 1}, true, kOther));
  hold(request(c, {0, 1}));
  EXPECT_EQ(ask(request(b, {0, 1}, true, kOther)), "waits");  // for a
  EXPECT_EQ(ask(request(a, {0, 1})), "waits");                // for c
  hold(request(b, {5, 1}));
  EXPECT_EQ(ask(request(a, {0, 1})), "waits");
  EXPECT_EQ(ask(request(a, {5, 1})), "deadlock");
}

TEST_F(LockWaitsTest, ACycleOverTheOrderOfArrivalLetsSomebodyPass) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, 1}, false));
  hold(request(c, {0, 1}, true, kOther));
  EXPECT_EQ(ask(request(b, {0, 1}, true)), "waits");          // for a
  EXPECT_EQ(ask(request(c, {0, 1}, false)), "waits");         // behind b alone
  EXPECT_EQ(ask(request(a, {0, 1}, true, kOther)), "waits");  // for c, which now may pass b
  EXPECT_EQ(c.granted->size(), 1u);
  release(request(c, {0, 1}, true, kOther));
  EXPECT_EQ(a.granted->size(), 1u);
}

TEST_F(LockWaitsTest, WhoHoldsWhatAnEarlierOneWaitsForDoesNotWaitBehindIt) {
  const Waiter a = waiter(), b = waiter();
  hold(request(a, {0, 1}, false));
  EXPECT_EQ(ask(request(b, {0, 10}, true)), "waits");
  EXPECT_EQ(ask(request(a, {5, 1}, false)), "granted");
  EXPECT_EQ(ask(request(a, {0, 1}, true)), "granted");
  table().unlock_all(kFile, {a.id, "o"});
  EXPECT_EQ(b.granted->size(), 1u);
}

// --- limits

TEST_F(LockWaitsTest, AreBoundedForAHolderAndForAFile) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, LockRange::kToEnd}));
  hold(request(a, {0, LockRange::kToEnd}, true, kOther));
  for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(ask(request(b, {i, 1})), "waits");
  for (std::uint64_t i = 0; i < 24; ++i) ASSERT_EQ(ask(request(b, {i, 1}, true, kOther)), "waits");
  EXPECT_EQ(ask(request(b, {5000, 1})), "busy");
  for (std::uint64_t i = 0; i < 24; ++i) ASSERT_EQ(ask(request(c, {i, 1})), "waits");
  EXPECT_EQ(ask(request(c, {5000, 1})), "busy");
  EXPECT_EQ(ask(request(c, {5000, 1}, true, kOther)), "waits");
  EXPECT_EQ(ask(request(b, {0, 1})), "waits");  // it does already
  table().remove_holder(b.id);
  EXPECT_EQ(ask(request(c, {5000, 1})), "waits");
  EXPECT_EQ(gauge(), "26");
}

TEST_F(LockWaitsTest, AreBoundedForAPeer) {
  constexpr std::uint64_t kHolders = LockWaits::kPerPeer / LockWaits::kPerHolder;
  const Waiter a = waiter(), stranger = waiter("other");
  std::vector<Waiter> many;
  for (std::uint64_t holder = 0; holder < kHolders; ++holder) {
    const FileId file{200 + holder};
    hold(request(a, {0, LockRange::kToEnd}, true, file));
    many.push_back(waiter("one"));
    for (std::uint64_t i = 0; i < LockWaits::kPerHolder; ++i)
      ASSERT_EQ(ask(request(many.back(), {i, 1}, true, file)), "waits");
  }
  hold(request(a, {0, 10}));
  const Waiter last = waiter("one");
  EXPECT_EQ(ask(request(last, {0, 1})), "busy");
  EXPECT_EQ(ask(request(stranger, {0, 1})), "waits");
  table().remove_holder(many.front().id);
  EXPECT_EQ(ask(request(last, {0, 1})), "waits");
}

TEST_F(LockWaitsTest, WhoHasNoPlaceGetsWhatIsFree) {
  const Waiter a = waiter(), b = waiter(), c = waiter();
  hold(request(a, {0, 5000}));
  for (std::uint64_t i = 0; i < LockWaits::kPerFile; ++i) ASSERT_EQ(ask(request(b, {i, 1}, false)), "waits");
  EXPECT_EQ(ask(request(c, {4999, 1})), "busy");
  EXPECT_EQ(ask(request(c, {5000, 1})), "granted");
  EXPECT_TRUE(table().has_locks(kFile, {c.id, "o"}));
  // A downgrade lets others in.
  EXPECT_EQ(ask(request(a, {0, 1}, false)), "granted");
  EXPECT_EQ(*b.granted, std::vector{request(b, {0, 1}, false)});
}

TEST_F(LockWaitsTest, AreTriedAgainWhenThereWereTooManyLocks) {
  table_.reset();
  options_.locks_max = 2;
  const Waiter a = waiter(), b = waiter();
  hold(request(a, {0, 1}));
  hold(request(a, {0, 1}, true, kOther));
  EXPECT_EQ(ask(request(b, {10, 1})), "waits");
  release(request(a, {0, 1}, true, kOther));
  EXPECT_TRUE(b.granted->empty());
  table().retry_waits();
  EXPECT_EQ(b.granted->size(), 1u);
}

// --- at random: each wait has a reason, and all are served in the end.

TEST_F(LockWaitsTest, NobodyWaitsWithoutAReason) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    table_.reset();
    struct One {
      Waiter who;
      std::optional<LockRequest> waits;
    };
    std::vector<One> all;
    for (int i = 0; i < 6; ++i) all.push_back({waiter(), {}});
    const auto take_grants = [&] {
      for (One& one : all) {
        if (one.who.granted->empty()) continue;
        ASSERT_EQ(one.who.granted->size(), 1u);
        ASSERT_EQ(one.who.granted->front(), *one.waits);
        one.waits.reset();
        one.who.granted->clear();
      }
    };
    for (int step = 0; step < 400; ++step) {
      One& one = all[random() % all.size()];
      const LockRequest wanted =
          request(one.who, {random() % 8, 1 + random() % 4}, random() % 2 == 0, FileId{random() % 3 + 10});
      if (one.waits) {
        if (random() % 10 == 0) {
          ASSERT_TRUE(table().cancel_wait(*one.waits));
          one.waits.reset();
        }
      } else if (random() % 3 == 0) {
        release(wanted);
      } else if (ask(wanted) == "waits") {
        one.waits = wanted;
      }
      take_grants();
      // There is always one that can go on.
      ASSERT_TRUE(std::ranges::any_of(all, [](const One& o) { return !o.waits; })) << "step " << step;
      for (const One& o : all) {
        if (!o.waits) continue;
        const auto test = table().test_lock(o.waits->file, o.waits->owner, o.waits->range, o.waits->exclusive);
        ASSERT_TRUE(test);
        const bool by_order = std::ranges::any_of(all, [&](const One& other) {
          return other.waits && other.who.id != o.who.id && other.waits->file == o.waits->file &&
                 (other.waits->exclusive || o.waits->exclusive);
        });
        ASSERT_TRUE(*test || by_order);
      }
    }
    // Each one that does not wait releases all; then no wait is long.
    for (std::size_t round = 0; round <= all.size(); ++round) {
      for (One& one : all) {
        if (one.waits) continue;
        for (std::uint64_t file = 10; file < 13; ++file) table().unlock_all(FileId{file}, {one.who.id, "o"});
        take_grants();
      }
    }
    for (const One& one : all) EXPECT_FALSE(one.waits);
    EXPECT_EQ(gauge(), "0");
  }
}

// Two locks on two files in any order: on a deadlock a thread releases its locks and begins anew.
TEST_F(LockWaitsTest, OfManyThreadsAllEnd) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kFiles = 3;
  std::array<std::atomic<int>, kFiles> inside{};
  table();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::mutex mutex;
      std::condition_variable told;
      std::size_t granted = 0;
      const HolderId me = table().add_holder(Protocol::kNfs, on_grant([&](const LockGranted&) {
                                               const std::lock_guard lock(mutex);
                                               ++granted;
                                               told.notify_one();
                                             }));
      const LockOwner owner{me, "o"};
      const auto take = [&](std::size_t file) {
        const auto got = table().lock_or_wait({FileId{file + 10}, owner, {0, 1}, true});
        if (!got) {
          EXPECT_EQ(got.error().code, Errc::kDeadlock);
          return false;
        }
        if (*got) return true;
        std::unique_lock lock(mutex);
        told.wait(lock, [&] { return granted != 0; });
        granted = 0;
        return true;
      };
      for (int round = 0; round < 300; ++round) {
        const std::size_t first = random() % kFiles;
        const std::size_t second = (first + 1 + random() % (kFiles - 1)) % kFiles;
        ASSERT_TRUE(take(first));
        EXPECT_EQ(inside[first].fetch_add(1), 0);
        if (take(second)) {
          EXPECT_EQ(inside[second].fetch_add(1), 0);
          inside[second].fetch_sub(1);
          EXPECT_TRUE(table().unlock(FileId{second + 10}, owner, {0, 1}));
        }
        inside[first].fetch_sub(1);
        EXPECT_TRUE(table().unlock(FileId{first + 10}, owner, {0, 1}));
      }
      table().remove_holder(me);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(gauge(), "0");
}

}  // namespace
}  // namespace stoa::core::test
