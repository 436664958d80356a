// What admission costs requests that need not wait: for nobody, and for one to eight flows on the path, by one thread
// and by several.
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

std::shared_ptr<Flow> generous_flow() {
  auto flow = std::make_shared<Flow>();
  Limits limits;
  for (auto& ceiling : limits.ceiling) ceiling = std::uint64_t{1} << 50;
  limits.burst = std::chrono::hours(1);
  const std::pair<Flow*, Limits> change{flow.get(), limits};
  scheduler().change({&change, 1});
  return flow;
}

void admit_within_limits(benchmark::State& state) {
  std::vector<std::shared_ptr<Flow>> flows;
  std::vector<Flow*> path;
  for (int i = 0; i < state.range(0); ++i) {
    flows.push_back(generous_flow());
    path.push_back(flows.back().get());
  }
  for (auto _ : state) benchmark::DoNotOptimize(scheduler().admit(path, Price::read(4096)));
}
BENCHMARK(admit_within_limits)->Arg(0)->Arg(1)->Arg(3)->Arg(8);

void admit_beside_others(benchmark::State& state) {
  static const std::shared_ptr<Flow> shared = generous_flow();
  const auto own = generous_flow();
  Flow* const path[] = {shared.get(), own.get()};
  for (auto _ : state) benchmark::DoNotOptimize(scheduler().admit(path, Price::read(4096)));
}
BENCHMARK(admit_beside_others)->Threads(1)->Threads(4);

// One that waits and is granted, with so many others waiting below the same ceiling.
void park_and_grant(benchmark::State& state) {
  std::int64_t now = 0;
  Scheduler timed({}, [&now] { return now; });
  const auto top = std::make_shared<Flow>();
  Limits limits;
  limits.ceiling[Resource::kMetadataOps] = 1000;
  std::vector<std::shared_ptr<Flow>> users;
  std::vector<std::pair<Flow*, Limits>> changes{{top.get(), limits}};
  for (int i = 0; i < state.range(0); ++i) {
    users.push_back(std::make_shared<Flow>());
    changes.emplace_back(users.back().get(), Limits{});
  }
  timed.change(changes);
  std::size_t next = 0;
  const auto park = [&] {
    Flow* const path[] = {top.get(), users[next++ % users.size()].get()};
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
