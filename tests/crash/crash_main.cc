// crash_test: kills a server at random moments under load and checks what it promised. See README.md.
//
//   crash_test --serve tests/serve --stoa build/release/bin/stoa [--cycles 20] [--seed N] [--data DIR]
//              [--preload stoa_powercut_preload.so]   every other cycle is a power cut
//              [--load-ms 700]                        longest time of the load before the kill
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/clients/server_process.h"
#include "tests/crash/powercut.h"
#include "tests/crash/worker.h"

namespace {

namespace fs = std::filesystem;
using stoa::clients::ServerProcess;
using stoa::crash::PowerCut;
using stoa::crash::Protocols;
using stoa::crash::Worker;

struct Options {
  std::string serve, stoa, preload, data;
  std::uint64_t cycles = 20, seed = static_cast<std::uint64_t>(std::time(nullptr)), load_ms = 700;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--serve")
      options.serve = value;
    else if (name == "--stoa")
      options.stoa = value;
    else if (name == "--preload")
      options.preload = value;
    else if (name == "--data")
      options.data = value;
    else if (name == "--cycles")
      options.cycles = std::strtoull(value, nullptr, 0);
    else if (name == "--seed")
      options.seed = std::strtoull(value, nullptr, 0);
    else if (name == "--load-ms")
      options.load_ms = std::strtoull(value, nullptr, 0);
    else
      return false;
  }
  return argc % 2 == 1 && !options.serve.empty() && !options.stoa.empty();
}

class CrashTest {
 public:
  CrashTest(Options options, fs::path folder)
      : options_(std::move(options)),
        folder_(std::move(folder)),
        data_(folder_ / "data"),
        journal_(folder_ / "journal"),
        random_(options_.seed) {
    fs::create_directories(data_);
    for (int i = 0; i < 3; ++i) workers_.push_back(stoa::crash::make_nfs_worker(i, random_.next()));
    for (int i = 0; i < 2; ++i) workers_.push_back(stoa::crash::make_s3_worker(i, random_.next()));
    for (int i = 0; i < 2; ++i) workers_.push_back(stoa::crash::make_bin_worker(i, random_.next()));
    for (int i = 0; i < 2; ++i) workers_.push_back(stoa::crash::make_owner_worker(i, random_.next()));
  }

  bool run() {
    for (std::uint64_t cycle = 1; cycle <= options_.cycles + 1; ++cycle) {
      if (!one_cycle(cycle)) return false;
    }
    std::uint64_t promises = 0;
    for (const auto& worker : workers_) promises += worker->promises();
    std::printf("crash_test: %llu cycles, %llu power cuts, %llu promises, all kept\n",
                static_cast<unsigned long long>(options_.cycles), static_cast<unsigned long long>(cuts_),
                static_cast<unsigned long long>(promises));
    for (const auto& worker : workers_) {
      if (const std::string met = worker->summary(); !met.empty()) std::printf("%s\n", met.c_str());
    }
    return promises > 0;
  }

 private:
  bool failed(std::uint64_t cycle, const std::string& what) {
    std::fprintf(stderr, "crash_test: cycle %llu (seed %llu): %s\nthe data is kept in %s\n",
                 static_cast<unsigned long long>(cycle), static_cast<unsigned long long>(options_.seed), what.c_str(),
                 folder_.c_str());
    return false;
  }

  template <class Work>
  bool all_workers(std::uint64_t cycle, Work work) {
    std::vector<std::thread> threads;
    for (const auto& worker : workers_) threads.emplace_back([&, w = worker.get()] { work(*w); });
    for (std::thread& thread : threads) thread.join();
    std::string problems;
    for (const auto& worker : workers_) {
      for (const std::string& problem : worker->problems()) problems += "\n  " + problem;
    }
    return problems.empty() || failed(cycle, "promises were broken:" + problems);
  }

  bool one_cycle(std::uint64_t cycle) {
    // The last round only verifies.
    const bool last = cycle > options_.cycles;
    const bool power = !options_.preload.empty() && cycle % 2 == 0 && !last;
    std::vector<std::string> command{options_.serve, "--data", data_.string()};
    if (power) {
      if (auto ready = stoa::crash::prepare_power_cut(journal_.string()); !ready) return failed(cycle, "journal");
      // An earlier server may not have synced the data that this one finds: make it the state that a cut goes back
      // to.
      ::sync();
      ::setenv("STOA_POWERCUT_ROOTS", data_.c_str(), 1);
      ::setenv("STOA_POWERCUT_JOURNAL", journal_.c_str(), 1);
      command.insert(command.end(), {"--preload", options_.preload});
    }
    std::string why;
    const auto server = ServerProcess::start(command, &why);
    if (server == nullptr) return failed(cycle, "no start: " + why);
    const Protocols protocols{server->nfs(), server->s3(), {options_.stoa, "--data", data_.string()}};
    if (!all_workers(cycle, [&](Worker& worker) { worker.verify(protocols); })) return false;
    if (last) return true;

    std::thread killer([&] {
      // A random moment is the point of the test; nothing waits for it.
      ::usleep(static_cast<useconds_t>(1000 * (50 + random_.below(options_.load_ms))));
      server->kill_hard();
    });
    const bool kept = all_workers(cycle, [&](Worker& worker) { worker.work(protocols); });
    killer.join();
    if (!kept) return false;
    if (power) {
      ++cuts_;
      const PowerCut how = cuts_ % 2 == 1 ? PowerCut::kEverything : PowerCut::kRandom;
      const auto report = stoa::crash::cut_power(data_.string(), journal_.string(), how, random_.next());
      if (!report) return failed(cycle, "power cut: " + stoa::describe(report.error()));
      std::printf("cycle %llu: power cut took %llu ranges of %llu files and %llu names\n",
                  static_cast<unsigned long long>(cycle), static_cast<unsigned long long>(report->blocks),
                  static_cast<unsigned long long>(report->files), static_cast<unsigned long long>(report->names));
    }
    std::string output;
    const int code =
        stoa::clients::run_command({options_.stoa, "check", "--data", data_.string(), "--read-data"}, &output);
    if (code != 0) return failed(cycle, "stoa check says " + std::to_string(code) + ":\n" + output);
    return true;
  }

  const Options options_;
  const fs::path folder_, data_, journal_;
  stoa::model::Random random_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint64_t cuts_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: %s --serve FILE --stoa FILE [--preload FILE] [--cycles N] [--seed N] [--data DIR] [--load-ms N]\n",
        argv[0]);
    return 2;
  }
  fs::path folder = options.data;
  if (folder.empty()) {
    std::string pattern = (fs::current_path() / "crash.XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  std::printf("crash_test: seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const bool ok = CrashTest(options, folder).run();
  if (ok && options.data.empty()) fs::remove_all(folder);
  return ok ? 0 : 1;
}
