// The cost of admission for requests that need not wait: without QoS classes, and with one to eight QoS classes on the
// path, by one thread and by several.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <vector>

#include "qos/scheduler.h"

namespace stoa::qos {
namespace {

Scheduler& scheduler() {
  static Scheduler one;
  return one;
}

std::shared_ptr<QosClass> generous_qos_class() {
  auto qos_class = std::make_shared<QosClass>();
  Limits limits;
  for (auto& limit : limits.limit) limit = std::uint64_t{1} << 50;
  limits.burst = std::chrono::hours(1);
  const std::pair<QosClass*, Limits> change{qos_class.get(), limits};
  scheduler().change({&change, 1});
  return qos_class;
}

void admit_within_limits(benchmark::State& state) {
  std::vector<std::shared_ptr<QosClass>> qos_classes;
  std::vector<QosClass*> path;
  for (int i = 0; i < state.range(0); ++i) {
    qos_classes.push_back(generous_qos_class());
    path.push_back(qos_classes.back().get());
  }
  for (auto _ : state) benchmark::DoNotOptimize(scheduler().admit(path, Price::read(4096)));
}
BENCHMARK(admit_within_limits)->Arg(0)->Arg(1)->Arg(3)->Arg(8);

void admit_beside_others(benchmark::State& state) {
  static const std::shared_ptr<QosClass> shared = generous_qos_class();
  const auto own = generous_qos_class();
  QosClass* const path[] = {shared.get(), own.get()};
  for (auto _ : state) benchmark::DoNotOptimize(scheduler().admit(path, Price::read(4096)));
}
BENCHMARK(admit_beside_others)->Threads(1)->Threads(4);

// One that waits and is granted, with so many others waiting below the same limit.
void park_and_grant(benchmark::State& state) {
  std::int64_t now = 0;
  Scheduler timed({}, [&now] { return now; });
  const auto top = std::make_shared<QosClass>();
  Limits limits;
  limits.limit[Resource::kMetadataOps] = 1000;
  std::vector<std::shared_ptr<QosClass>> users;
  std::vector<std::pair<QosClass*, Limits>> changes{{top.get(), limits}};
  for (int i = 0; i < state.range(0); ++i) {
    users.push_back(std::make_shared<QosClass>());
    changes.emplace_back(users.back().get(), Limits{});
  }
  timed.change(changes);
  std::size_t next = 0;
  const auto park = [&] {
    QosClass* const path[] = {top.get(), users[next++ % users.size()].get()};
    (void)timed.park(path, Price::metadata(), {.deadline = INT64_MAX, .owner = nullptr, .resume = [](bool) {}});
  };
  for (std::size_t i = 0; i < users.size() + 100; ++i) park();
  for (auto _ : state) {
    now += 1'000'000;
    timed.serve();
    park();
  }
}
BENCHMARK(park_and_grant)->Arg(1)->Arg(100)->Arg(3000);

}  // namespace
}  // namespace stoa::qos
