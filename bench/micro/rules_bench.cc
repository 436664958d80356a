// The cost of quotas and QoS classes: the same volume of 100 000 directories in /tenants, of which none, 100 or all
// have limits of their own, and once all of them below one that counts owners. On the memory engine and without syncs,
// so that nothing else is in the snapshot.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <optional>

#include "bench/micro/core_fixture.h"
#include "core/api/qos_table.h"
#include "qos/scheduler.h"

namespace stoa::core {
namespace {

constexpr std::uint64_t kDirectories = 100'000;

struct Tenants {
  explicit Tenants(std::uint64_t quotas, bool owners) : fixture(Engine::kMemory) {
    ctx.durability = Durability::kApplied;
    const FileId tenants = fixture.mkdir("tenants");
    if (owners) check(fixture.ns().count_owners({}, {tenants, true}).has_value());
    directories.reserve(kDirectories);
    for (std::uint64_t i = 0; i < kDirectories; ++i) {
      const auto made = fixture.ns().mkdir(ctx, {.parent = tenants, .name = numbered(i)});
      check(made.has_value());
      directories.push_back(made->attr.id);
    }
    // Every directory's limits are set, to none where it is to have none. So the compared volumes have the same
    // history, and equally scattered memory. Spread over all, so that the benchmarks meet them in proportion.
    const std::uint64_t step = quotas != 0 ? kDirectories / quotas : kDirectories + 1;
    for (std::uint64_t i = 0; i < kDirectories; ++i) set(directories[i], (i + 1) % step == 0);
  }
  void set(FileId dir, bool limited = true) {
    const QuotaLimits limits{.bytes = 1u << 30, .files = 1000, .soft_bytes = 1u << 29};
    check(fixture.ns().set_quota(ctx, {dir, limited ? limits : QuotaLimits{}}).has_value());
  }
  FileId next() { return directories[(at = (at + 7919) % kDirectories)]; }
  static void check(bool good) {
    if (!good) std::abort();
  }

  CoreFixture fixture;
  OpContext ctx;
  std::vector<FileId> directories;
  std::uint64_t at = 0;
};

// One volume for each number of quotas.
Tenants& tenants(const benchmark::State& state) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Tenants>> all;
  auto& one = all[{state.range(0), state.range(1)}];
  if (!one) one = std::make_unique<Tenants>(static_cast<std::uint64_t>(state.range(0)), state.range(1) != 0);
  return *one;
}

void BM_CreateAndUnlink(benchmark::State& state) {
  Tenants& t = tenants(state);
  for (auto _ : state) {
    const FileId dir = t.next();
    Tenants::check(t.fixture.ns().create(t.ctx, {.parent = dir, .name = "f"}).has_value());
    Tenants::check(t.fixture.ns().unlink(t.ctx, {dir, "f"}).has_value());
  }
}

void BM_GrowAndTruncate(benchmark::State& state) {
  Tenants& t = tenants(state);
  const FileId file = t.fixture.ns().create(t.ctx, {.parent = t.directories[0], .name = "grown"})->attr.id;
  const std::array<std::byte, 100> bytes{};
  const std::span<const std::byte> pieces[] = {bytes};
  for (auto _ : state) {
    Tenants::check(t.fixture.ns().write(t.ctx, {file, 0, pieces}).has_value());
    Tenants::check(t.fixture.ns().setattr(t.ctx, {.id = file, .set = {.size = 0}}).has_value());
  }
}

void BM_Usage(benchmark::State& state) {
  Tenants& t = tenants(state);
  for (auto _ : state) benchmark::DoNotOptimize(t.fixture.ns().usage(t.ctx, {t.next()}));
}

void BM_SetQuota(benchmark::State& state) {
  Tenants& t = tenants(state);
  for (auto _ : state) t.set(t.directories[0]);
}

// The steps of a front end before each operation, with this many directories as QoS classes with limits that leave
// room.
class Gate {
 public:
  explicit Gate(Tenants& tenants, std::uint64_t qos_classes) : tenants_(tenants) {
    if (qos_classes == 0) return;
    qos::Limits limits;
    for (auto& limit : limits.limit) limit = std::uint64_t{1} << 50;
    limits.burst = std::chrono::hours(1);
    std::vector<QosEntry> made;
    const std::uint64_t step = kDirectories / qos_classes;
    for (std::uint64_t i = step - 1; i < kDirectories; i += step) {
      const QosEntry& entry = made.emplace_back(QosRule{QosTarget::directory(tenants.directories[i]), limits},
                                                std::make_shared<qos::QosClass>());
      const std::pair<qos::QosClass*, qos::Limits> change{entry.qos_class.get(), limits};
      scheduler_.change({&change, 1});
    }
    table_.emplace(std::move(made));
  }
  void admit(FileId dir) {
    if (!table_) return;
    found_.clear();
    Tenants::check(tenants_.fixture.ns().find_qos_classes(tenants_.ctx, dir, *table_, found_).has_value());
    table_->compose_path({.protocol = Protocol::kNfs, .cred = &tenants_.ctx.cred}, found_, path_);
    Tenants::check(path_.empty() || scheduler_.admit(path_, qos::Price::metadata()));
  }

 private:
  Tenants& tenants_;
  qos::Scheduler scheduler_;
  std::optional<QosTable> table_;
  std::vector<qos::QosClass*> found_, path_;
};

void BM_CreateAndUnlinkInQosClasses(benchmark::State& state) {
  static Tenants t(0, false);
  Gate gate(t, static_cast<std::uint64_t>(state.range(0)));
  for (auto _ : state) {
    const FileId dir = t.next();
    gate.admit(dir);
    Tenants::check(t.fixture.ns().create(t.ctx, {.parent = dir, .name = "f"}).has_value());
    gate.admit(dir);
    Tenants::check(t.fixture.ns().unlink(t.ctx, {dir, "f"}).has_value());
  }
}

// Through the registry, store and all; and a change of something else beside so many.
void with_qos_classes(Registry& registry, std::uint64_t qos_classes) {
  for (std::uint64_t i = 0; i < qos_classes; ++i) {
    QosRule rule{.target = QosTarget::directory(FileId{1000 + i})};
    rule.limits.limit[qos::Resource::kMetadataOps] = 1'000'000;
    Tenants::check(registry.set_qos_class(rule).has_value());
  }
}

void BM_SetQosClass(benchmark::State& state) {
  CoreFixture fixture(Engine::kMemory);
  const auto qos_classes = static_cast<std::uint64_t>(state.range(0));
  with_qos_classes(fixture.volume().registry(), qos_classes);
  QosRule rule{};
  std::uint64_t turn = 0;
  for (auto _ : state) {
    rule.target = QosTarget::directory(FileId{1000 + ++turn * 7919 % std::max<std::uint64_t>(qos_classes, 1)});
    rule.limits.limit[qos::Resource::kMetadataOps] = 1'000'000 + turn;
    Tenants::check(fixture.volume().registry().set_qos_class(rule).has_value());
  }
}

void BM_SetUserBesideQosClasses(benchmark::State& state) {
  CoreFixture fixture(Engine::kMemory);
  with_qos_classes(fixture.volume().registry(), static_cast<std::uint64_t>(state.range(0)));
  Tenants::check(fixture.volume().registry().add_user({.name = "ann"}).has_value());
  for (auto _ : state) Tenants::check(fixture.volume().registry().change_user({.name = "ann"}).has_value());
}

void BM_SetAllQosClasses(benchmark::State& state) {
  for (auto _ : state) {
    CoreFixture fixture(Engine::kMemory);
    with_qos_classes(fixture.volume().registry(), static_cast<std::uint64_t>(state.range(0)));
  }
}

void quotas(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"quotas", "owners"})->Args({0, 0})->Args({100, 0})->Args({kDirectories, 0})->Args({kDirectories, 1});
}
BENCHMARK(BM_CreateAndUnlink)->Apply(quotas);
BENCHMARK(BM_CreateAndUnlinkInQosClasses)->ArgName("qos_classes")->Arg(0)->Arg(100)->Arg(kDirectories);
BENCHMARK(BM_SetQosClass)->ArgName("qos_classes")->Arg(1)->Arg(1000)->Arg(kDirectories)->UseRealTime();
BENCHMARK(BM_SetUserBesideQosClasses)->ArgName("qos_classes")->Arg(0)->Arg(1000)->Arg(kDirectories)->UseRealTime();
BENCHMARK(BM_SetAllQosClasses)
    ->ArgName("qos_classes")
    ->Arg(1000)
    ->Arg(kDirectories)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_GrowAndTruncate)->Apply(quotas);
BENCHMARK(BM_Usage)->Apply(quotas);
BENCHMARK(BM_SetQuota)->Apply(quotas);

}  // namespace
}  // namespace stoa::core
