// Random operations on a volume and on its twin, on both engines. Settings by environment:
//   STOA_MODEL_SEED  the seed (default 1; printed)     STOA_MODEL_OPS  operations for each engine
//   STOA_MODEL_TRACE print every operation                               STOA_MODEL_SHRINK  runs spent on shrinking a
//   failure
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/model/model_run.h"

namespace stoa::model {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

void report(const char* title, const ModelFailure& failure) {
  std::fprintf(stderr, "%s, at operation %zu: %s\n", title, failure.step, failure.what.c_str());
  for (const std::string& line : failure.tail) std::fprintf(stderr, "    %s\n", line.c_str());
}

void run(const MakeEngine& make, std::size_t operations_default) {
  // The same one each time, so that a change that breaks nothing stays green; long runs take others.
  const std::uint64_t seed = setting("STOA_MODEL_SEED", 1);
  const std::size_t count = setting("STOA_MODEL_OPS", operations_default);
  const ModelOptions options{.shared_extents = setting("STOA_MODEL_SHARED", 1) != 0,
                             .huge_files = setting("STOA_MODEL_HUGE", 1) != 0,
                             .trace = setting("STOA_MODEL_TRACE", 0) != 0};
  std::fprintf(stderr, "STOA_MODEL_SEED=%llu STOA_MODEL_OPS=%zu\n", static_cast<unsigned long long>(seed), count);

  std::vector<std::uint64_t> operations = operation_seeds(seed, count);
  const auto failure = run_model(make, operations, options);
  if (!failure) return;
  report("FAILED", *failure);
  operations.resize(failure->step);
  operations = shrink_model(make, std::move(operations), options, setting("STOA_MODEL_SHRINK", 300));
  const auto small = run_model(make, operations, options);
  if (small) report(("shrunk to " + std::to_string(operations.size()) + " operations").c_str(), *small);
  FAIL() << "the volume and its twin differ: " << failure->what;
}

TEST(ModelTest, VolumeInMemoryBehavesLikeItsTwin) {
  run(make_memory_engine, 25'000);
}
TEST(ModelTest, VolumeOnRocksDbBehavesLikeItsTwin) {
  run(make_rocksdb_engine, 15'000);
}
TEST(ModelTest, VolumeOnRocksDbAndHostFilesBehavesLikeItsTwin) {
  run(make_local_engine, 10'000);
}

}  // namespace
}  // namespace stoa::model
