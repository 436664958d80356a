#include "tests/model/model_run.h"

#include "tests/model/driver.h"

namespace stoa::model {

std::vector<std::uint64_t> operation_seeds(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<std::uint64_t> out(count);
  for (std::uint64_t& operation : out) operation = random.next();
  return out;
}

std::optional<ModelFailure> run_model(const MakeEngine& make, std::span<const std::uint64_t> operations,
                                      const ModelOptions& options) {
  const auto engine = make();
  Driver driver(*engine, options);
  bool same = driver.start();
  std::size_t step = 0;
  while (same && step < operations.size()) {
    same = driver.step(operations[step]);
    ++step;
    if (same && (step % options.compare_every == 0 || step == operations.size())) same = driver.compare_all();
  }
  if (same) return std::nullopt;
  return ModelFailure{.step = step, .what = driver.failure(), .tail = driver.tail()};
}

namespace {

// The kind of a failure: its message without numbers and names.
std::string kind_of(const std::string& what) {
  std::string out;
  bool in_name = false;
  for (const char c : what) {
    if (c == '\'') in_name = !in_name;
    if (!in_name && (c < '0' || c > '9')) out += c;
  }
  return out;
}

}  // namespace

std::vector<std::uint64_t> shrink_model(const MakeEngine& make, std::vector<std::uint64_t> failing,
                                        const ModelOptions& options, std::size_t attempts) {
  const auto first = run_model(make, failing, options);
  if (!first) return failing;  // Depends on the clock, or on the order of threads.
  const std::string kind = kind_of(first->what);
  for (std::size_t chunk = failing.size() / 2; chunk > 0 && attempts > 0; chunk /= 2) {
    for (std::size_t at = 0; at < failing.size() && attempts > 0; --attempts) {
      std::vector<std::uint64_t> shorter(failing.begin(), failing.begin() + static_cast<std::ptrdiff_t>(at));
      if (at + chunk < failing.size()) {
        shorter.insert(shorter.end(), failing.begin() + static_cast<std::ptrdiff_t>(at + chunk), failing.end());
      }
      const auto failure = run_model(make, shorter, options);
      if (failure && kind_of(failure->what) == kind) {
        shorter.resize(std::min(shorter.size(), failure->step));
        failing = std::move(shorter);
      } else {
        at += chunk;
      }
    }
  }
  return failing;
}

}  // namespace stoa::model
