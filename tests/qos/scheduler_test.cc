// The scheduler under a clock of its own: hours pass at once, and everything is exact.
#include "qos/scheduler.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

namespace stoa::qos {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kFar = 1'000'000 * kSecond;
using Path = std::vector<QosClass*>;

Limits limit(Resource resource, std::uint64_t rate, std::uint32_t weight = kWeightDefault) {
  Limits limits;
  limits.limit[resource] = rate;
  limits.weight = weight;
  return limits;
}
Limits weight(std::uint32_t weight) {
  return {.weight = weight};
}
Limits guarantee(Resource resource, std::uint64_t rate, std::uint32_t weight = kWeightDefault) {
  Limits limits;
  limits.guarantee[resource] = rate;
  limits.weight = weight;
  return limits;
}

class Qos : public testing::Test {
 protected:
  std::shared_ptr<QosClass> qos_class(const Limits& limits) {
    auto made = std::make_shared<QosClass>();
    set(*made, limits);
    return made;
  }
  void set(QosClass& qos_class, const Limits& limits) {
    const std::pair<QosClass*, Limits> change{&qos_class, limits};
    scheduler.change({&change, 1});
  }

  // A client that keeps `depth` requests of one price in flight, from its start to its end.
  struct Load {
    Path path;
    Price price;
    int depth;
    std::int64_t start = 0;
    std::int64_t end = kFar;
    std::deque<std::int64_t> granted{};  // when
    int under_way = 0;
  };
  void done(Load& load) {
    load.granted.push_back(now);
    --load.under_way;
  }
  // Runs the loads for so long; the timer comes every millisecond, as the real one does.
  void run(std::vector<Load*> loads, std::int64_t duration) {
    for (const std::int64_t until = now + duration; now < until; now += kMillisecond) {
      scheduler.serve();
      for (Load* load : loads) {
        while (load->under_way < load->depth && now >= load->start && now < load->end) ask(*load);
      }
    }
  }
  void ask(Load& load) {
    ++load.under_way;
    if (scheduler.admit(load.path, load.price)) return done(load);
    const Verdict verdict =
        scheduler.park(load.path, load.price, {.deadline = kFar, .owner = &load, .resume = [this, &load](bool yes) {
                                                 EXPECT_TRUE(yes);
                                                 done(load);
                                               }});
    ASSERT_NE(verdict, Verdict::kBusy);
    if (verdict == Verdict::kGranted) done(load);
  }
  static double granted_between(const Load& load, std::int64_t from, std::int64_t to) {
    return static_cast<double>(
        std::ranges::count_if(load.granted, [&](std::int64_t at) { return at >= from && at < to; }));
  }

  std::int64_t now = 5 * kSecond;
  Scheduler scheduler{{}, [this] { return now; }};
};

TEST_F(Qos, WithoutLimitsEverythingIsAdmittedAndCounted) {
  const auto any = qos_class({});
  QosClass* const path[] = {any.get()};
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(scheduler.admit(path, Price::read(1 << 20)));
  EXPECT_EQ(any->use().admitted[Resource::kReadBytes], 100'000ull << 20);
  EXPECT_EQ(any->use().admitted[Resource::kReadOps], 100'000u);
  EXPECT_EQ(any->use().admitted[Resource::kWriteBytes], 0u);
}

TEST_F(Qos, ALimitIsHeldWithinFivePercentOverAnyTenSecondsWithManyPaths) {
  constexpr std::uint64_t kRate = 100 << 20;
  const auto top = qos_class(limit(Resource::kWriteBytes, kRate));
  std::vector<std::shared_ptr<QosClass>> users;
  std::deque<Load> loads;
  std::vector<Load*> all;
  for (int i = 0; i < 50; ++i) {
    users.push_back(qos_class(weight(static_cast<std::uint32_t>(10 + i))));
    // They come and go, and write pieces of different sizes.
    loads.push_back({.path = {top.get(), users.back().get()},
                     .price = Price::write(4096ull << (i % 9)),
                     .depth = 1 + i % 7,
                     .start = now + i * 200 * kMillisecond,
                     .end = now + (30 + i) * kSecond});
    all.push_back(&loads.back());
  }
  const std::int64_t began = now;
  run(all, 60 * kSecond);
  std::map<std::int64_t, double> bytes;  // by 100 ms
  for (const Load& load : loads) {
    for (const std::int64_t at : load.granted)
      bytes[(at - began) / (100 * kMillisecond)] += static_cast<double>(load.price.amount[Resource::kWriteBytes]);
  }
  for (std::int64_t from = 0; from + 100 <= 600; ++from) {
    double sum = 0;
    for (std::int64_t i = from; i < from + 100; ++i) sum += bytes[i];
    EXPECT_LE(sum, 1.05 * 10 * kRate) << "from " << from;
    EXPECT_GE(sum, 0.95 * 10 * kRate) << "from " << from;
  }
}

TEST_F(Qos, OperationsAndBytesAreLimitedTogether) {
  Limits limits = limit(Resource::kReadOps, 100);
  limits.limit[Resource::kReadBytes] = 1 << 20;
  const auto both = qos_class(limits);
  Load small{.path = {both.get()}, .price = Price::read(512), .depth = 8};
  run({&small}, 10 * kSecond);
  EXPECT_NEAR(static_cast<double>(small.granted.size()), 1000, 50);
  small.end = now;
  run({&small}, 5 * kSecond);
  Load large{.path = {both.get()}, .price = Price::read(64 << 10), .depth = 8};
  run({&large}, 10 * kSecond);
  EXPECT_NEAR(static_cast<double>(large.granted.size()), 160, 8);
}

TEST_F(Qos, WhatIsLargerThanTheBurstPaysByDebtAndNeverStarves) {
  const auto slow = qos_class(limit(Resource::kWriteBytes, 1'000'000));
  Load huge{.path = {slow.get()}, .price = Price::write(20'000'000), .depth = 1};
  Load small{.path = {slow.get()}, .price = Price::write(10'000), .depth = 4};
  run({&huge, &small}, 400 * kSecond);
  const double bytes =
      static_cast<double>(huge.granted.size()) * 20e6 + static_cast<double>(small.granted.size()) * 10e3;
  EXPECT_GE(huge.granted.size(), 5u);
  EXPECT_GE(small.granted.size(), 3 * huge.granted.size());
  EXPECT_LE(bytes, 1.05 * 400e6 + 20e6);
  EXPECT_GE(bytes, 0.95 * 400e6);
}

TEST_F(Qos, TheBurstIsWhatMayBeUsedAtOnceAfterRest) {
  Limits limits = limit(Resource::kMetadataOps, 100);
  limits.burst = std::chrono::seconds(2);
  const auto bursty = qos_class(limits);
  QosClass* const path[] = {bursty.get()};
  int at_once = 0;
  while (scheduler.admit(path, Price::metadata())) ++at_once;
  EXPECT_EQ(at_once, 201);
  now += kSecond;
  at_once = 0;
  while (scheduler.admit(path, Price::metadata())) ++at_once;
  EXPECT_EQ(at_once, 100);
}

TEST_F(Qos, WeightsOneToThreeShareOneToThree) {
  const auto top = qos_class(limit(Resource::kReadBytes, 10 << 20));
  const auto light = qos_class(weight(100));
  const auto heavy = qos_class(weight(300));
  // The one with less weight asks more often, and for more at a time.
  Load a{.path = {top.get(), light.get()}, .price = Price::read(64 << 10), .depth = 64};
  Load b{.path = {top.get(), heavy.get()}, .price = Price::read(16 << 10), .depth = 8};
  const std::int64_t began = now;
  run({&a, &b}, 20 * kSecond);
  const double bytes_a = granted_between(a, began + kSecond, now) * 64;
  const double bytes_b = granted_between(b, began + kSecond, now) * 16;
  EXPECT_NEAR(bytes_b / bytes_a, 3, 0.1);
}

TEST_F(Qos, WhatOneDoesNotUseGoesToTheOthers) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 1000));
  const auto light = qos_class(weight(1));
  const auto heavy = qos_class(weight(1000));
  Load a{.path = {top.get(), light.get()}, .price = Price::metadata(), .depth = 16};
  Load b{.path = {top.get(), heavy.get()}, .price = Price::metadata(), .depth = 16, .start = now + 10 * kSecond};
  const std::int64_t began = now;
  run({&a, &b}, 20 * kSecond);
  EXPECT_NEAR(granted_between(a, began, began + 10 * kSecond), 10'000, 500);
  EXPECT_NEAR(granted_between(b, began + 10 * kSecond, now), 10'000, 500);
  EXPECT_GE(granted_between(a, began + 10 * kSecond, now), 5) << "nobody starves";
}

TEST_F(Qos, AGuaranteeHoldsUnderANoisyNeighbour) {
  const auto top = qos_class(limit(Resource::kWriteBytes, 10 << 20));
  const auto important = qos_class(guarantee(Resource::kWriteBytes, 4 << 20, 1));
  const auto noisy = qos_class(weight(1000));
  Load a{
      .path = {top.get(), important.get()}, .price = Price::write(64 << 10), .depth = 8, .start = now + 10 * kSecond};
  Load b{.path = {top.get(), noisy.get()}, .price = Price::write(1 << 20), .depth = 64};
  const std::int64_t began = now;
  run({&a, &b}, 40 * kSecond);
  for (std::int64_t from = began + 11 * kSecond; from + 10 * kSecond <= now; from += kSecond) {
    EXPECT_GE(granted_between(a, from, from + 10 * kSecond) * (64 << 10), 0.95 * 10 * (4 << 20));
  }
  // And the rest is the neighbour's.
  EXPECT_NEAR(granted_between(b, began + 20 * kSecond, now) * (1 << 20), 20.0 * (6 << 20), 0.05 * 20 * (6 << 20));
}

TEST_F(Qos, AGuaranteeIsWhatThereIsAtLeastAndIsNotSpentWhileAlone) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 1000));
  const auto modest = qos_class(guarantee(Resource::kMetadataOps, 300, 1));
  const auto noisy = qos_class(weight(1000));
  Load a{.path = {top.get(), modest.get()}, .price = Price::metadata(), .depth = 8};
  Load b{.path = {top.get(), noisy.get()}, .price = Price::metadata(), .depth = 64, .start = now + 60 * kSecond};
  const std::int64_t began = now;
  run({&a, &b}, 80 * kSecond);
  EXPECT_NEAR(granted_between(a, began, began + 60 * kSecond), 60'000, 3000);
  EXPECT_GE(granted_between(a, began + 61 * kSecond, began + 71 * kSecond), 2850);
  // A share by weight that is more than the guarantee stays.
  set(*modest, guarantee(Resource::kMetadataOps, 300, 1000));
  const std::int64_t then = now;
  run({&a, &b}, 10 * kSecond);
  EXPECT_GE(granted_between(a, then, now), 4500);
}

TEST_F(Qos, AGuaranteeDeepInTheTreeHoldsAgainstAllThatSharesTheLimitAbove) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 1000));
  const auto team = qos_class(weight(1));
  const auto ann = qos_class(guarantee(Resource::kMetadataOps, 400));
  const auto others = qos_class(weight(1000));
  Load a{.path = {top.get(), team.get(), ann.get()}, .price = Price::metadata(), .depth = 8};
  Load b{.path = {top.get(), team.get()}, .price = Price::metadata(), .depth = 64};
  Load c{.path = {top.get(), others.get()}, .price = Price::metadata(), .depth = 64};
  const std::int64_t began = now;
  run({&a, &b, &c}, 20 * kSecond);
  EXPECT_GE(granted_between(a, began + kSecond, began + 11 * kSecond), 3800);
}

TEST_F(Qos, AGuaranteeDoesNotSleepWithTheSlowestBelowIt) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 100));
  const auto team = qos_class(guarantee(Resource::kMetadataOps, 50, 1));
  const auto slow = qos_class(limit(Resource::kMetadataOps, 1));
  const auto quick = qos_class({});
  const auto noisy = qos_class(weight(100'000));
  const std::int64_t began = now;
  // The first makes a debt of minutes, and the next one waits.
  Load s{.path = {top.get(), team.get(), slow.get()}, .price = Price{}.add(Resource::kMetadataOps, 200), .depth = 1};
  Load b{.path = {top.get(), noisy.get()}, .price = Price::metadata(), .depth = 64};
  Load before{
      .path = {top.get(), team.get(), quick.get()}, .price = Price::metadata(), .depth = 8, .end = now + 5 * kSecond};
  Load after{.path = before.path, .price = Price::metadata(), .depth = 8, .start = now + 10 * kSecond};
  run({&s, &b, &before, &after}, 20 * kSecond);
  EXPECT_EQ(s.granted.size(), 1u);
  EXPECT_GE(granted_between(after, began + 10 * kSecond, began + 12 * kSecond), 90);
}

TEST_F(Qos, NestedLimitsAllHold) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 1000));
  const auto small = qos_class(limit(Resource::kMetadataOps, 100));
  const auto large = qos_class(limit(Resource::kMetadataOps, 5000));
  const auto user = qos_class(limit(Resource::kMetadataOps, 50));  // in both
  Load a{.path = {top.get(), small.get()}, .price = Price::metadata(), .depth = 32};
  Load b{.path = {top.get(), large.get()}, .price = Price::metadata(), .depth = 32};
  Load c{.path = {top.get(), small.get(), user.get()}, .price = Price::metadata(), .depth = 32};
  Load d{.path = {top.get(), large.get(), user.get()}, .price = Price::metadata(), .depth = 32};
  const std::int64_t began = now;
  run({&a, &b, &c, &d}, 20 * kSecond);
  const std::int64_t from = began + kSecond;
  const double in_a = granted_between(a, from, from + 10 * kSecond),
               in_b = granted_between(b, from, from + 10 * kSecond);
  const double in_c = granted_between(c, from, from + 10 * kSecond),
               in_d = granted_between(d, from, from + 10 * kSecond);
  EXPECT_NEAR(in_a + in_b + in_c + in_d, 10'000, 500);
  EXPECT_NEAR(in_a + in_c, 1000, 50);
  EXPECT_NEAR(in_c + in_d, 500, 25);
}

TEST_F(Qos, WhatWaitsForOneDoesNotHoldUpWhatGoesElsewhere) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 100'000));
  const auto slow = qos_class(limit(Resource::kMetadataOps, 10));
  const auto quick = qos_class({});
  Load a{.path = {top.get(), slow.get()}, .price = Price::metadata(), .depth = 100};
  run({&a}, 5 * kSecond);
  QosClass* const other[] = {top.get(), quick.get()};
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(scheduler.admit(other, Price::metadata()));
  // Nor do reads wait for writes.
  QosClass* const same[] = {top.get(), slow.get()};
  EXPECT_TRUE(scheduler.admit(same, Price::read(1 << 20)));
  EXPECT_FALSE(scheduler.admit(same, Price::metadata()));
}

TEST_F(Qos, NobodyOvertakesWhatWaitsForTheSame) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 10));
  QosClass* const path[] = {top.get()};
  while (scheduler.admit(path, Price::metadata())) {
  }
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    const Wait wait{.deadline = kFar, .owner = nullptr, .resume = [&order, i](bool) { order.push_back(i); }};
    ASSERT_EQ(scheduler.park(path, Price::metadata(), wait), Verdict::kParked);
  }
  now += 10 * kSecond;  // there is room, but the timer has not come yet
  EXPECT_FALSE(scheduler.admit(path, Price::metadata()));
  scheduler.serve();
  // The burst lets one go, and one that goes into debt.
  EXPECT_EQ(order, (std::vector{0, 1}));
  for (int i = 0; i < 3; ++i) {
    now = std::max(now, scheduler.serve());
    scheduler.serve();
  }
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(scheduler.serve(), Scheduler::kNever);
}

TEST_F(Qos, ChangesApplyAtOnce) {
  const auto top = qos_class(limit(Resource::kWriteBytes, 1000));
  QosClass* const path[] = {top.get()};
  ASSERT_TRUE(scheduler.admit(path, Price::write(1'000'000)));  // a debt of a quarter of an hour
  int resumed = 0;
  const auto wait = [&] {
    return Wait{.deadline = kFar, .owner = nullptr, .resume = [&](bool yes) { resumed += yes ? 1 : 0; }};
  };
  ASSERT_EQ(scheduler.park(path, Price::write(1000), wait()), Verdict::kParked);
  set(*top, limit(Resource::kWriteBytes, 1'000'000));  // the debt is a second now
  EXPECT_EQ(resumed, 0);
  now += kSecond;
  scheduler.serve();
  EXPECT_EQ(resumed, 1);

  set(*top, limit(Resource::kWriteBytes, 10));
  ASSERT_EQ(scheduler.park(path, Price::write(100), wait()), Verdict::kParked);
  set(*top, {});
  EXPECT_EQ(resumed, 2) << "without a limit it goes without the timer";
  EXPECT_TRUE(scheduler.admit(path, Price::write(1 << 30)));
  set(*top, limit(Resource::kWriteBytes, 10));
  EXPECT_TRUE(scheduler.admit(path, Price::write(10))) << "what was admitted without a limit is no debt";
  EXPECT_EQ(top->use().waiting, 0u);
  EXPECT_EQ(top->use().parked, 2u);
}

TEST_F(Qos, QueuesAreBoundedInAllAndForEachQosClass) {
  Scheduler small({.parked_max = 24, .parked_per_qos_class_max = 12}, [this] { return now; });
  const auto a = std::make_shared<QosClass>(), b = std::make_shared<QosClass>();
  const std::pair<QosClass*, Limits> changes[] = {{a.get(), limit(Resource::kMetadataOps, 1)},
                                                  {b.get(), limit(Resource::kMetadataOps, 1)}};
  small.change(changes);
  const auto fill = [&](QosClass* qos_class) {
    QosClass* const path[] = {qos_class};
    int parked = 0;
    for (int i = 0; i < 20; ++i) {
      const Wait wait{.deadline = kFar, .owner = qos_class, .resume = [](bool) { ADD_FAILURE(); }};
      if (small.park(path, Price::metadata(), wait) == Verdict::kParked) ++parked;
    }
    return parked;
  };
  EXPECT_EQ(fill(a.get()), 6) << "half of what the QoS class has, and half is left";
  EXPECT_EQ(fill(b.get()), 6);
  EXPECT_EQ(fill(b.get()), 0);
  EXPECT_EQ(a->use().refused, 13u) << "the first one did not wait";
  small.cancel(a.get());
  EXPECT_EQ(fill(b.get()), 0);
  EXPECT_EQ(fill(a.get()), 6);
  small.cancel(a.get());
  small.cancel(b.get());
  EXPECT_EQ(small.parked(), 0u);
}

TEST_F(Qos, WhoeverFillsTheQueueLeavesRoomForOthersBelowTheSameLimit) {
  Scheduler small({.parked_max = 64, .parked_per_qos_class_max = 32}, [this] { return now; });
  const auto top = std::make_shared<QosClass>(), team = std::make_shared<QosClass>();
  const auto hog = std::make_shared<QosClass>(), other = std::make_shared<QosClass>(),
             mate = std::make_shared<QosClass>();
  const std::pair<QosClass*, Limits> change{top.get(), limit(Resource::kMetadataOps, 1)};
  small.change({&change, 1});
  QosClass* const any[] = {top.get()};
  while (small.admit(any, Price::metadata())) {
  }
  const auto fill = [&](const Path& path, const Price& price = Price::metadata()) {
    int parked = 0;
    for (int i = 0; i < 100; ++i) {
      if (small.park(path, price, {.deadline = kFar, .owner = nullptr, .resume = [](bool) { ADD_FAILURE(); }}) ==
          Verdict::kParked)
        ++parked;
    }
    return parked;
  };
  EXPECT_GE(fill({top.get(), team.get(), hog.get()}), 6);
  EXPECT_GE(fill({top.get(), team.get(), mate.get()}), 3) << "of the same team";
  EXPECT_GE(fill({top.get()}), 3) << "governed by nothing else";
  EXPECT_GE(fill({top.get(), other.get()}), 2);
}

TEST_F(Qos, AtItsDeadlineARequestIsGrantedOrRefusedAsItAsked) {
  const auto slow = qos_class(limit(Resource::kMetadataOps, 1));
  QosClass* const path[] = {slow.get()};
  while (scheduler.admit(path, Price::metadata())) {
  }
  std::vector<bool> told;
  for (const bool grant : {true, false}) {
    const std::optional<Price> price = grant ? std::optional(Price::metadata()) : std::nullopt;
    const Wait wait{
        .deadline = now + 100 * kMillisecond, .at_deadline = price, .owner = nullptr, .resume = [&](bool yes) {
          told.push_back(yes);
        }};
    ASSERT_EQ(scheduler.park(path, Price::metadata(), wait), Verdict::kParked);
  }
  now += 99 * kMillisecond;
  EXPECT_EQ(scheduler.serve(), now + kMillisecond);
  EXPECT_TRUE(told.empty());
  now += kMillisecond;
  EXPECT_EQ(scheduler.serve(), Scheduler::kNever);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_NE(told[0], told[1]);
  EXPECT_EQ(slow->use().refused, 1u);
  // An early grant is a debt.
  now += 1700 * kMillisecond;
  EXPECT_FALSE(scheduler.admit(path, Price::metadata()));
  const Wait late{.deadline = now - 1, .owner = nullptr, .resume = [](bool) { ADD_FAILURE(); }};
  EXPECT_EQ(scheduler.park(path, Price::metadata(), late), Verdict::kBusy);
}

TEST_F(Qos, WhatPassesAtItsDeadlinePaysThatAndMakesNoDebtWithoutEnd) {
  const auto slow = qos_class(limit(Resource::kReadBytes, 1000));
  QosClass* const path[] = {slow.get()};
  ASSERT_TRUE(scheduler.admit(path, Price::read(1000)));
  int passed = 0;
  for (int i = 0; i < 100; ++i) {
    const Wait wait{.deadline = now + 100 * kMillisecond,
                    .at_deadline = Price::read(500),
                    .owner = nullptr,
                    .resume = [&](bool yes) { passed += yes ? 1 : 0; }};
    ASSERT_EQ(scheduler.park(path, Price::read(1'000'000), wait), Verdict::kParked);
  }
  now += 100 * kMillisecond;
  scheduler.serve();
  EXPECT_EQ(passed, 100);
  EXPECT_EQ(slow->use().admitted[Resource::kReadBytes], 1000u + 100 * 500u);
  EXPECT_FALSE(scheduler.admit(path, Price::read(1)));
  now += 10 * kSecond;
  EXPECT_TRUE(scheduler.admit(path, Price::read(1)));
}

TEST_F(Qos, WhatIsCancelledLeavesItsPlaceToOthersAndPaysNothing) {
  const auto slow = qos_class(limit(Resource::kWriteBytes, 1000));
  QosClass* const path[] = {slow.get()};
  ASSERT_TRUE(scheduler.admit(path, Price::write(1000)));
  int owner = 0, resumed = 0;
  for (int i = 0; i < 3; ++i) {
    const Wait wait{.deadline = kFar, .owner = &owner, .resume = [](bool) { ADD_FAILURE(); }};
    ASSERT_EQ(scheduler.park(path, Price::write(100'000), wait), Verdict::kParked);
  }
  const Wait wait{.deadline = kFar, .owner = nullptr, .resume = [&](bool yes) { resumed += yes ? 1 : 0; }};
  ASSERT_EQ(scheduler.park(path, Price::write(10), wait), Verdict::kParked);
  scheduler.cancel(&owner);
  scheduler.cancel(&owner);
  EXPECT_EQ(scheduler.parked(), 1u);
  now += kSecond;
  scheduler.serve();
  EXPECT_EQ(resumed, 1);
  EXPECT_EQ(slow->use().admitted[Resource::kWriteBytes], 1010u);
}

TEST_F(Qos, WhatIsRefusedForItsOwnerIsToldAndPaysNothing) {
  const auto slow = qos_class(limit(Resource::kWriteBytes, 1000));
  QosClass* const path[] = {slow.get()};
  ASSERT_TRUE(scheduler.admit(path, Price::write(1000)));
  int owner = 0, refused = 0;
  const Wait wait{.deadline = kFar, .at_deadline = Price::write(1), .owner = &owner, .resume = [&](bool yes) {
                    refused += yes ? 0 : 1;
                  }};
  ASSERT_EQ(scheduler.park(path, Price::write(1), wait), Verdict::kParked);
  scheduler.refuse(&owner);
  scheduler.refuse(&owner);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(scheduler.parked(), 0u);
  EXPECT_EQ(slow->use().admitted[Resource::kWriteBytes], 1000u);
}

TEST_F(Qos, ARequestThatIsRefusedByOneQosClassPaysNone) {
  const auto wide = qos_class(limit(Resource::kMetadataOps, 1000));
  const auto narrow = qos_class(limit(Resource::kMetadataOps, 1));
  QosClass* const both[] = {wide.get(), narrow.get()};
  while (scheduler.admit(both, Price::metadata())) {
  }
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(scheduler.admit(both, Price::metadata()));
  QosClass* const one[] = {wide.get()};
  int left = 0;
  while (scheduler.admit(one, Price::metadata())) ++left;
  EXPECT_GE(left, 90);
}

// Many QoS classes that come and go: nothing that was waited for is left behind.
TEST_F(Qos, QosClassesThatComeAndGoLeaveNothingBehind) {
  const auto top = qos_class(limit(Resource::kMetadataOps, 1000));
  std::weak_ptr<QosClass> last;
  for (int i = 0; i < 2000; ++i) {
    const auto visitor = qos_class(weight(static_cast<std::uint32_t>(1 + i % 200)));
    last = visitor;
    QosClass* const path[] = {top.get(), visitor.get()};
    for (int n = 0; n < 3; ++n) {
      const Wait wait{.deadline = kFar, .owner = nullptr, .resume = [](bool) {}};
      ASSERT_NE(scheduler.park(path, Price::metadata(), wait), Verdict::kBusy);
    }
    now += kMillisecond * (i % 5);
    scheduler.serve();
  }
  now += 100 * kSecond;
  while (scheduler.serve() != Scheduler::kNever) now += kSecond;
  EXPECT_EQ(scheduler.parked(), 0u);
  EXPECT_TRUE(last.expired());
}

}  // namespace
}  // namespace stoa::qos
