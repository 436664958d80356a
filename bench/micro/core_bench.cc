// The core by itself, on both engines: the cost to a front end without encoding.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>

#include "bench/micro/core_fixture.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kFiles = 100'000;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// One volume an engine, with a directory of many files, for everything that only reads.
struct Shared {
  explicit Shared(Engine engine) : fixture(engine), dir(fixture.filled_directory("many", kFiles)) {}
  CoreFixture fixture;
  FileId dir;
};
std::map<Engine, std::unique_ptr<Shared>>& all_shared() {
  static std::map<Engine, std::unique_ptr<Shared>> all;
  return all;
}
Shared& shared(Engine engine) {
  auto& one = all_shared()[engine];
  if (!one) one = std::make_unique<Shared>(engine);
  return *one;
}
Engine engine_of(const benchmark::State& state) {
  return static_cast<Engine>(state.range(0));
}

void BM_Getattr(benchmark::State& state) {
  Shared& s = shared(engine_of(state));
  const FileId id = s.fixture.ns().lookup({}, {.parent = s.dir, .name = numbered(7)})->attr.id;
  const OpContext ctx;
  for (auto _ : state) benchmark::DoNotOptimize(s.fixture.ns().getattr(ctx, {.id = id}));
}

void BM_LookupCached(benchmark::State& state) {
  Shared& s = shared(engine_of(state));
  const OpContext ctx;
  std::uint64_t i = 0;
  for (auto _ : state) {
    const std::string name = numbered(i++ * 7919 % 1000);
    benchmark::DoNotOptimize(s.fixture.ns().lookup(ctx, {.parent = s.dir, .name = name}));
  }
}

void BM_LookupAbsent(benchmark::State& state) {
  Shared& s = shared(engine_of(state));
  const OpContext ctx;
  std::uint64_t i = 0;
  for (auto _ : state) {
    const std::string name = "absent" + std::to_string(i++);
    benchmark::DoNotOptimize(s.fixture.ns().lookup(ctx, {.parent = s.dir, .name = name}));
  }
}

// Items are entries.
void readdir_all(benchmark::State& state, bool attributes) {
  Shared& s = shared(engine_of(state));
  const OpContext ctx;
  std::int64_t entries = 0;
  std::uint64_t cookie = 0;
  for (auto _ : state) {
    const auto page = s.fixture.ns().readdir(ctx, {.dir = s.dir, .cookie = cookie, .want_attributes = attributes});
    if (!page) {
      state.SkipWithError("readdir failed");
      break;
    }
    entries += static_cast<std::int64_t>(page->entries.size());
    cookie = page->end ? 0 : page->entries.back().cookie;
  }
  state.SetItemsProcessed(entries);
}
void BM_ReaddirPage(benchmark::State& state) {
  readdir_all(state, false);
}
void BM_ReaddirPlusPage(benchmark::State& state) {
  readdir_all(state, true);
}

// The same of a directory that was not used lately: none of its inodes is in the cache.
void BM_ReaddirPlusCold(benchmark::State& state) {
  Shared& s = shared(engine_of(state));
  const OpContext ctx;
  std::int64_t entries = 0;
  for (auto _ : state) {
    state.PauseTiming();
    s.fixture.reopen();
    state.ResumeTiming();
    for (std::uint64_t cookie = 0;;) {
      const auto page = s.fixture.ns().readdir(ctx, {.dir = s.dir, .cookie = cookie, .want_attributes = true});
      if (!page) {
        state.SkipWithError("readdir failed");
        return;
      }
      entries += static_cast<std::int64_t>(page->entries.size());
      if (page->end) break;
      cookie = page->entries.back().cookie;
    }
  }
  state.SetItemsProcessed(entries);
}

// Items are keys.
void BM_ListKeysPage(benchmark::State& state) {
  Shared& s = shared(engine_of(state));
  const OpContext ctx;
  std::int64_t keys = 0;
  std::string after;
  for (auto _ : state) {
    const auto page = s.fixture.ns().list_keys(ctx, {.root = s.dir, .start_after = after});
    if (!page) {
      state.SkipWithError("list_keys failed");
      break;
    }
    keys += static_cast<std::int64_t>(page->keys.size());
    after = page->truncated ? page->next_start_after : "";
  }
  state.SetItemsProcessed(keys);
}

// The worst case on purpose: every thread creates in one hot directory, and every create is durable on return.
class CreateBench : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State& state) override {
    if (state.thread_index() != 0) return;
    fixture = std::make_unique<CoreFixture>(static_cast<Engine>(state.range(0)));
    dirs.clear();
    for (int i = 0; i < state.threads(); ++i) dirs.push_back(fixture->mkdir("d" + std::to_string(i)));
  }
  void TearDown(const benchmark::State& state) override {
    if (state.thread_index() == 0) fixture.reset();
  }

 protected:
  void run(benchmark::State& state, bool one_directory, bool then_remove) {
    const double before = state.thread_index() == 0 ? cpu_seconds() : 0;
    const OpContext ctx;
    const std::string stem = "t" + std::to_string(state.thread_index()) + "-";
    const auto which = one_directory ? std::size_t{0} : static_cast<std::size_t>(state.thread_index());
    std::uint64_t i = 0;
    for (auto _ : state) {
      // Looked up in here: only the first turn of the loop waits for the thread that sets the fixture up.
      const FileId dir = dirs[which];
      const std::string name = stem + std::to_string(i++);
      if (!fixture->ns().create(ctx, {.parent = dir, .name = name})) state.SkipWithError("create failed");
      if (then_remove && !fixture->ns().unlink(ctx, {.parent = dir, .name = name}))
        state.SkipWithError("unlink failed");
    }
    state.SetItemsProcessed(state.iterations());
    if (state.thread_index() == 0) {
      // All threads do about the same number, so the process's CPU is shared out by this thread's.
      state.counters["cpu_us_each"] = (cpu_seconds() - before) * 1e6 / static_cast<double>(state.iterations()) /
                                      static_cast<double>(state.threads());
    }
  }
  static inline std::unique_ptr<CoreFixture> fixture;
  static inline std::vector<FileId> dirs;
};

// The same where every new file inherits entries.
class InheritBench : public CreateBench {
 public:
  void SetUp(const benchmark::State& state) override {
    CreateBench::SetUp(state);
    if (state.thread_index() != 0) return;
    Acl acl;
    for (std::uint32_t uid = 1; uid <= 4; ++uid)
      acl.entries.push_back({.flags = kAceFileInherit, .rights = kRightReadData, .who = AclWho::user(uid)});
    const SetAttributes set{.acl = std::make_shared<const Acl>(acl)};
    for (const FileId dir : dirs) {
      if (!fixture->ns().setattr({}, {.id = dir, .set = set})) std::abort();
    }
  }
};

// Files that go, with a recycle bin that keeps them and without one.
class RemoveBench : public benchmark::Fixture {
 public:
  static constexpr std::int64_t kEach = 100'000;  // by all threads together
  void SetUp(const benchmark::State& state) override {
    if (state.thread_index() != 0) return;
    fixture = std::make_unique<CoreFixture>(static_cast<Engine>(state.range(0)));
    dir = fixture->filled_directory("many", kEach);
    next = 0;
    if (state.range(1) != 0 && !fixture->volume().registry().set_recycle({.dir = kRootId})) std::abort();
  }
  void TearDown(const benchmark::State& state) override {
    if (state.thread_index() == 0) fixture.reset();
  }

 protected:
  void run(benchmark::State& state, Durability durability) {
    const double before = state.thread_index() == 0 ? cpu_seconds() : 0;
    OpContext ctx;
    ctx.durability = durability;
    for (auto _ : state) {
      const std::string name = numbered(next++);
      if (!fixture->ns().unlink(ctx, {.parent = dir, .name = name})) state.SkipWithError("unlink failed");
    }
    state.SetItemsProcessed(state.iterations());
    if (state.thread_index() == 0) {
      state.counters["cpu_us_each"] = (cpu_seconds() - before) * 1e6 / static_cast<double>(state.iterations()) /
                                      static_cast<double>(state.threads());
    }
  }
  static inline std::unique_ptr<CoreFixture> fixture;
  static inline FileId dir{};
  static inline std::atomic<std::uint64_t> next{0};
};

BENCHMARK_DEFINE_F(RemoveBench, Applied)(benchmark::State& state) {
  run(state, Durability::kApplied);
}
BENCHMARK_DEFINE_F(RemoveBench, Durable)(benchmark::State& state) {
  run(state, Durability::kDurable);
}

BENCHMARK_DEFINE_F(CreateBench, DurableInOneDirectory)(benchmark::State& state) {
  run(state, true, false);
}
BENCHMARK_DEFINE_F(CreateBench, DurableInManyDirectories)(benchmark::State& state) {
  run(state, false, false);
}
BENCHMARK_DEFINE_F(InheritBench, DurableInManyDirectories)(benchmark::State& state) {
  run(state, false, false);
}
BENCHMARK_DEFINE_F(CreateBench, CreateAndUnlink)(benchmark::State& state) {
  run(state, true, true);
}

// One step of counting usage by user and group: changes of names wait for it for less than this time.
void BM_CountOwnersOf256Files(benchmark::State& state) {
  CoreFixture fixture(engine_of(state), Background::kOff);
  const FileId dir = fixture.filled_directory("many", kFiles);
  const auto begin = [&] {
    for (const bool counted : {false, true}) {
      if (!fixture.ns().count_owners({}, {dir, counted})) std::abort();
    }
  };
  begin();
  std::chrono::nanoseconds longest{};
  for (auto _ : state) {
    const auto began = std::chrono::steady_clock::now();
    const auto done = fixture.volume().run_owner_count(256);
    longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - began);
    if (!done) std::abort();
    if (!*done) continue;
    state.PauseTiming();
    begin();
    state.ResumeTiming();
  }
  state.counters["longest_us"] = static_cast<double>(longest.count()) / 1e3;
}

void engines(benchmark::internal::Benchmark* bench) {
  bench->ArgName("rocks")->Arg(static_cast<int>(Engine::kMemory))->Arg(static_cast<int>(Engine::kRocks));
}
void threads(benchmark::internal::Benchmark* bench) {
  bench->ArgName("rocks")->UseRealTime();
  for (const Engine engine : {Engine::kMemory, Engine::kRocks}) bench->Arg(static_cast<int>(engine));
  for (const int count : {1, 16, 32, 64}) bench->Threads(count);
}

BENCHMARK(BM_Getattr)->Apply(engines);
BENCHMARK(BM_LookupCached)->Apply(engines);
BENCHMARK(BM_LookupAbsent)->Apply(engines);
BENCHMARK(BM_ReaddirPage)->Apply(engines);
BENCHMARK(BM_ReaddirPlusPage)->Apply(engines);
BENCHMARK(BM_ReaddirPlusCold)->Apply(engines)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ListKeysPage)->Apply(engines);
BENCHMARK(BM_CountOwnersOf256Files)->Apply(engines)->Iterations(2000);
BENCHMARK_REGISTER_F(CreateBench, DurableInOneDirectory)->Apply(threads);
BENCHMARK_REGISTER_F(CreateBench, DurableInManyDirectories)->Apply(threads);
BENCHMARK_REGISTER_F(InheritBench, DurableInManyDirectories)->Apply(threads);
BENCHMARK_REGISTER_F(CreateBench, CreateAndUnlink)->Apply(threads);
BENCHMARK_REGISTER_F(RemoveBench, Applied)
    ->ArgNames({"rocks", "bin"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Iterations(RemoveBench::kEach);
BENCHMARK_REGISTER_F(RemoveBench, Durable)
    ->ArgNames({"rocks", "bin"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Iterations(RemoveBench::kEach / 32)
    ->Threads(32)
    ->UseRealTime();

}  // namespace

// Volumes are closed while RocksDB's process-wide objects still exist.
void close_volumes() {
  all_shared().clear();
}

}  // namespace stoa::core

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  stoa::core::close_volumes();
  return 0;
}
