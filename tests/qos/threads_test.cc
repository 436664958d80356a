// The scheduler among many threads, with the steady clock. Nothing here depends on a duration.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "qos/scheduler.h"

namespace stoa::qos {
namespace {

TEST(QosThreads, EveryRequestIsGrantedOrRefusedOnceAndPaysWhatItCost) {
  Scheduler scheduler({.parked_max = 200, .parked_per_qos_class_max = 100});
  std::jthread server([&](const std::stop_token& stop) { scheduler.keep_serving(stop); });
  const auto shared = std::make_shared<QosClass>();
  std::vector<std::shared_ptr<QosClass>> own;
  Limits tight;
  tight.limit[Resource::kMetadataOps] = 20'000;
  tight.guarantee[Resource::kMetadataOps] = 1'000;
  const std::pair<QosClass*, Limits> first{shared.get(), tight};
  scheduler.change({&first, 1});
  constexpr int kThreads = 8;
  for (int i = 0; i < kThreads; ++i) {
    own.push_back(std::make_shared<QosClass>());
    Limits limits;
    limits.weight = static_cast<std::uint32_t>(50 * (i + 1));
    if (i % 2 == 0) limits.guarantee[Resource::kMetadataOps] = 500;
    const std::pair<QosClass*, Limits> change{own.back().get(), limits};
    scheduler.change({&change, 1});
  }

  std::atomic<std::uint64_t> granted{0}, refused{0}, outstanding{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        QosClass* const path[] = {shared.get(), own[static_cast<std::size_t>(i)].get()};
        for (int n = 0; n < 1000; ++n) {
          if (scheduler.admit(path, Price::metadata())) {
            granted.fetch_add(1);
            continue;
          }
          outstanding.fetch_add(1);
          const bool late = n % 3 == 0;
          const auto verdict =
              scheduler.park(path, Price::metadata(),
                             {.deadline = steady_ns() + (late ? 0 : 10'000'000'000),
                              .at_deadline = n % 2 == 0 ? std::optional(Price::metadata()) : std::nullopt,
                              .owner = nullptr,
                              .resume = [&](bool yes) {
                                (yes ? granted : refused).fetch_add(1);
                                outstanding.fetch_sub(1);
                              }});
          if (verdict == Verdict::kParked) continue;
          (verdict == Verdict::kGranted ? granted : refused).fetch_add(1);
          outstanding.fetch_sub(1);
        }
      });
    }
    for (int n = 0; n < 50; ++n) {
      Limits limits = tight;
      limits.limit[Resource::kMetadataOps] = 20'000 + static_cast<std::uint64_t>(n) * 1000;
      const std::pair<QosClass*, Limits> change{shared.get(), limits};
      scheduler.change({&change, 1});
    }
  }
  // Without a limit all that waits goes at once.
  const std::pair<QosClass*, Limits> open{shared.get(), Limits{}};
  scheduler.change({&open, 1});
  scheduler.quiesce();
  EXPECT_EQ(scheduler.parked(), 0u);
  EXPECT_EQ(outstanding.load(), 0u);
  EXPECT_EQ(granted.load() + refused.load(), 8000u);
  EXPECT_EQ(shared->use().admitted[Resource::kMetadataOps], granted.load());
  EXPECT_EQ(shared->use().waiting, 0u);
}

TEST(QosThreads, TheServingThreadResumesWhatWaits) {
  Scheduler scheduler;
  std::jthread server([&](const std::stop_token& stop) { scheduler.keep_serving(stop); });
  const auto qos_class = std::make_shared<QosClass>();
  Limits limits;
  limits.limit[Resource::kWriteBytes] = 1 << 20;
  const std::pair<QosClass*, Limits> change{qos_class.get(), limits};
  scheduler.change({&change, 1});
  QosClass* const path[] = {qos_class.get()};
  std::latch done(4);
  for (int i = 0; i < 4; ++i) {
    const Wait wait{.deadline = steady_ns() + 60'000'000'000, .owner = nullptr, .resume = [&](bool yes) {
                      EXPECT_TRUE(yes);
                      done.count_down();
                    }};
    if (scheduler.park(path, Price::write(150'000), wait) == Verdict::kGranted) done.count_down();
  }
  done.wait();
  EXPECT_EQ(qos_class->use().admitted[Resource::kWriteBytes], 600'000u);
}

TEST(QosThreads, AfterCancelAndSettleNobodyIsCalled) {
  Scheduler scheduler;
  std::jthread server([&](const std::stop_token& stop) { scheduler.keep_serving(stop); });
  const auto qos_class = std::make_shared<QosClass>();
  Limits limits;
  limits.limit[Resource::kMetadataOps] = 5'000;
  const std::pair<QosClass*, Limits> change{qos_class.get(), limits};
  scheduler.change({&change, 1});
  QosClass* const path[] = {qos_class.get()};
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> gone{false};
    const int owner = 0;
    for (int i = 0; i < 20; ++i) {
      (void)scheduler.park(path, Price::metadata(),
                           {.deadline = steady_ns() + 60'000'000'000, .owner = &owner, .resume = [&](bool) {
                              EXPECT_FALSE(gone.load());
                            }});
    }
    scheduler.cancel(&owner);
    scheduler.quiesce();
    gone.store(true);
    EXPECT_EQ(scheduler.parked(), 0u);
  }
}

}  // namespace
}  // namespace stoa::qos
