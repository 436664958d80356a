#include "bench/load/threads.h"

#include <thread>
#include <vector>

namespace stoa::bench {
namespace {

constexpr unsigned kFailuresMax = 20;

void run_one(unsigned thread, const ThreadPlan& plan, const Call& call, Outcome& outcome) {
  const auto limit_ns = static_cast<std::uint64_t>(plan.seconds * 1e9);
  const std::uint64_t began_ns = now_ns();
  unsigned failures = 0;
  for (std::uint64_t index = 0; plan.calls == 0 || index < plan.calls; ++index) {
    const std::uint64_t started_ns = now_ns();
    if (limit_ns > 0 && started_ns - began_ns >= limit_ns) return;
    const Tried tried = call(thread, index);
    if (!tried) {
      outcome.failed(tried.error());
      if (++failures == kFailuresMax) return;
      continue;
    }
    for (std::uint64_t i = 0; i < tried->operations; ++i) {
      outcome.succeeded(started_ns, i == 0 ? tried->bytes : 0);
    }
  }
}

}  // namespace

void run_threads(const ThreadPlan& plan, const Call& call, Outcome& total) {
  std::vector<Outcome> outcomes(plan.threads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < plan.threads; ++i) {
    threads.emplace_back([&, i] { run_one(i, plan, call, outcomes[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) total.add(outcome);
}

}  // namespace stoa::bench
