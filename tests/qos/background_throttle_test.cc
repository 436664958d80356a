// Background work under a clock of its own: it gives way to requests, pays its QoS class, and never holds up a stop.
#include "qos/background_throttle.h"

#include <gtest/gtest.h>

#include <thread>

namespace stoa::qos {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;

class BackgroundThrottleTest : public testing::Test {
 protected:
  BackgroundThrottleTest() { set({.weight = kWeightLowest}); }
  void set(const Limits& limits) {
    const std::pair<QosClass*, Limits> change{qos_class_.get(), limits};
    scheduler_.change({&change, 1});
    weight_ = limits.weight;
  }
  // Time passes, in which `busy_` requests a millisecond are served.
  void pass(std::int64_t ns) {
    now_ += ns;
    if (busy_) requests_ += static_cast<std::uint64_t>(1 + ns / kMillisecond);
    scheduler_.serve();
  }
  // The wait after a piece of work of this length.
  std::int64_t wait_after(std::int64_t took, const Price& price = Price::read(1 << 20)) {
    pass(took);
    const std::int64_t began = now_;
    throttle_.spent(price);
    return now_ - began;
  }

  std::int64_t now_ = 5 * kSecond;
  std::uint64_t requests_ = 0;
  bool busy_ = false;
  std::uint32_t weight_ = kWeightLowest;
  int naps_until_quiet_ = -1;
  Scheduler scheduler_{{}, [this] { return now_; }};
  std::shared_ptr<QosClass> qos_class_ = std::make_shared<QosClass>();
  BackgroundThrottle throttle_{scheduler_,
                               {.terms = [this] { return BackgroundThrottle::Terms{{qos_class_}, weight_}; },
                                .requests = [this] { return requests_; },
                                .clock = [this] { return now_; },
                                .nap =
                                    [this](std::int64_t ns) {
                                      pass(ns);
                                      if (naps_until_quiet_ >= 0 && naps_until_quiet_-- == 0) busy_ = false;
                                    }}};
};

TEST_F(BackgroundThrottleTest, WithoutRequestsItRunsAtFullSpeedAndIsCounted) {
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(wait_after(5 * kMillisecond), 0);
  EXPECT_EQ(qos_class_->use().admitted[Resource::kReadBytes], 1000ull << 20);
  EXPECT_EQ(qos_class_->use().admitted[Resource::kReadOps], 1000u);
}

TEST_F(BackgroundThrottleTest, WhileTheProtocolsAreBusyItGetsTheShareOfItsWeight) {
  busy_ = true;
  set({.weight = 10});  // against 100 of the requests
  EXPECT_EQ(wait_after(5 * kMillisecond), 50 * kMillisecond);
  set({.weight = 100});
  EXPECT_EQ(wait_after(40 * kMillisecond), 40 * kMillisecond);
  set({.weight = 10'000});
  EXPECT_LT(wait_after(40 * kMillisecond), kMillisecond);
}

TEST_F(BackgroundThrottleTest, ItIsNeverStarved) {
  busy_ = true;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(wait_after(kSecond), BackgroundThrottle::kPauseMax);
}

TEST_F(BackgroundThrottleTest, APauseEndsWithTheRequests) {
  busy_ = true;
  naps_until_quiet_ = 2;
  // Two lulls with requests, then one without.
  EXPECT_EQ(wait_after(kSecond), 4 * BackgroundThrottle::kLull);
  EXPECT_EQ(wait_after(kSecond), 0);
}

TEST_F(BackgroundThrottleTest, ALimitHoldsForItAsForRequests) {
  Limits limits{.weight = kWeightLowest};
  limits.limit[Resource::kReadBytes] = 1 << 20;
  set(limits);
  const std::int64_t began = now_;
  for (int i = 0; i < 20; ++i) wait_after(0);
  EXPECT_GE(now_ - began, 18 * kSecond);
  EXPECT_LE(now_ - began, 21 * kSecond);
  EXPECT_EQ(qos_class_->use().refused, 0u);
}

TEST_F(BackgroundThrottleTest, AHopelessLimitLetsAPieceThroughNowAndThen) {
  Limits limits{.weight = kWeightLowest};
  limits.limit[Resource::kReadBytes] = 1;
  set(limits);
  wait_after(0);  // goes into debt
  for (int i = 0; i < 5; ++i) {
    const std::int64_t waited = wait_after(0);
    EXPECT_GE(waited, BackgroundThrottle::kPatience);
    EXPECT_LE(waited, BackgroundThrottle::kPatience + BackgroundThrottle::kLull);
  }
}

TEST_F(BackgroundThrottleTest, HasteWaitsForNothing) {
  Limits limits{.weight = kWeightLowest};
  limits.limit[Resource::kMetadataOps] = 1;
  set(limits);
  busy_ = true;
  const std::int64_t began = now_;
  for (int i = 0; i < 10; ++i) throttle_.spent_unthrottled(Price::metadata());
  EXPECT_EQ(now_, began);
  EXPECT_EQ(qos_class_->use().admitted[Resource::kMetadataOps], 10u);
}

TEST_F(BackgroundThrottleTest, WhenItIsStoppedNothingWaits) {
  Limits limits{.weight = kWeightLowest};
  limits.limit[Resource::kReadBytes] = 1;
  set(limits);
  wait_after(0);
  busy_ = true;
  throttle_.stop();
  EXPECT_TRUE(throttle_.stopped());
  EXPECT_EQ(wait_after(kSecond), 0);
  const std::int64_t began = now_;
  throttle_.rest_until(now_ + 100 * kSecond);
  EXPECT_EQ(now_, began);
  EXPECT_EQ(scheduler_.parked(), 0u);
}

TEST_F(BackgroundThrottleTest, AStopEndsWhatWaits) {
  Limits limits{.weight = kWeightLowest};
  limits.limit[Resource::kReadBytes] = 1;
  const auto qos_class = std::make_shared<QosClass>();
  Scheduler scheduler;
  const std::pair<QosClass*, Limits> change{qos_class.get(), limits};
  scheduler.change({&change, 1});
  std::atomic<std::uint64_t> requests{0};
  BackgroundThrottle throttle(scheduler, {.terms = [&] { return BackgroundThrottle::Terms{{qos_class}}; },
                                          .requests = [&] { return requests.fetch_add(1); }});
  throttle.spent(Price::read(1 << 30));
  std::thread worker([&] {
    while (!throttle.stopped()) throttle.spent(Price::read(1 << 30));
    throttle.rest_until(throttle.now() + 1000 * kSecond);
  });
  while (scheduler.parked() == 0) std::this_thread::yield();
  throttle.stop();
  worker.join();
  EXPECT_EQ(scheduler.parked(), 0u);
}

}  // namespace
}  // namespace stoa::qos
