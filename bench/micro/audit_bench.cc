// The cost of the audit log for each record: everything from the journal to the line in the file, on the thread
// that writes it.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <filesystem>

#include "appliance/audit/audit_writer.h"
#include "bench/micro/core_fixture.h"

namespace stoa::core {
namespace {

constexpr std::int64_t kRecords = 20'000;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

std::unique_ptr<appliance::AuditWriter> open_log(const std::string& folder, Volume& volume, MetricRegistry& metrics) {
  auto log = appliance::AuditWriter::open({.folder = folder}, {{&volume}}, metrics);
  return log ? *std::move(log) : nullptr;
}

// Files are created without a writer of the log, which then catches up. Items are records; the time is CPU of the
// process.
void BM_AuditCreates(benchmark::State& state) {
  CoreFixture fixture(static_cast<Engine>(state.range(0)));
  MetricRegistry metrics;
  const std::string folder = fixture.scratch_folder("audit");
  const FileId dir = fixture.mkdir("projects");
  OpContext ctx{.protocol = Protocol::kNfs, .client = "192.168.100.100"};
  ctx.durability = Durability::kApplied;
  auto log = open_log(folder, fixture.volume(), metrics);
  if (log == nullptr || !log->set_policy({kRootId, kAllAuditClasses}))
    return state.SkipWithError("the log was not opened");
  std::uint64_t i = 0;
  for (auto _ : state) {
    log.reset();
    for (std::int64_t n = 0; n < kRecords; ++n) {
      if (!fixture.ns().create(ctx, {.parent = dir, .name = numbered(i++)}))
        return state.SkipWithError("create failed");
    }
    if (!fixture.volume().flush()) return state.SkipWithError("flush failed");
    const double before = cpu_seconds();
    log = open_log(folder, fixture.volume(), metrics);
    if (log == nullptr || !log->catch_up()) return state.SkipWithError("the log did not catch up");
    state.SetIterationTime(cpu_seconds() - before);
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
  log.reset();
  std::error_code error;
  std::filesystem::remove_all(folder, error);
}

BENCHMARK(BM_AuditCreates)
    ->Arg(static_cast<int>(Engine::kMemory))
    ->Arg(static_cast<int>(Engine::kRocks))
    ->UseManualTime()
    ->Iterations(5);

}  // namespace
}  // namespace stoa::core
