// torture: harms servers in every way of scenario.h, and looks whether anything that was acknowledged is lost or wrong.
// See README.md.
//
//   torture [--seconds 40] [--seed N] [--scenario NAME] [--build DIR] [--effort 1] [--list]
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/torture/scenario.h"

namespace {

namespace fs = std::filesystem;
using namespace stoa::torture;
using Clock = std::chrono::steady_clock;

constexpr unsigned kScenarioSeconds = 280;  // at effort 1: a server that does not answer for so long hangs

struct Options {
  std::uint64_t seed = static_cast<std::uint64_t>(std::time(nullptr));
  double seconds = 40;
  unsigned effort = 1;
  std::string scenario;
  Tools tools{.build = STOA_BUILD, .serve = STOA_SERVE, .preload = STOA_FAULTS_PRELOAD};
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--seed") {
      options.seed = std::strtoull(value, nullptr, 0);
    } else if (name == "--seconds") {
      options.seconds = std::strtod(value, nullptr);
    } else if (name == "--effort") {
      options.effort = static_cast<unsigned>(std::strtoul(value, nullptr, 0));
    } else if (name == "--scenario") {
      options.scenario = value;
    } else if (name == "--build") {
      options.tools.build = fs::absolute(value);
    } else {
      return false;
    }
  }
  const auto named = [&](const Scenario& scenario) { return scenario.name == options.scenario; };
  return argc % 2 == 1 && (options.scenario.empty() || std::ranges::any_of(scenarios(), named));
}

struct Count {
  int passed = 0, failed = 0, skipped = 0;
};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void run_one(const Scenario& scenario, const Options& options, std::uint64_t seed, const fs::path& above,
             Count& count) {
  const fs::path folder = above / (std::string(scenario.name) + "." + std::to_string(seed));
  fs::create_directories(folder);
  std::printf("%-14s seed %llu: ", std::string(scenario.name).c_str(), static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  const auto begin = Clock::now();
  ::alarm(kScenarioSeconds * options.effort);
  Run run(options.tools, folder, seed, options.effort);
  const stoa::Status done = scenario.run(run);
  ::alarm(0);
  const double took = seconds_since(begin);
  if (done) {
    ++count.passed;
    std::printf("ok, %llu operations, %.1f s\n", static_cast<unsigned long long>(run.operations), took);
    fs::remove_all(folder);
  } else if (done.error().code == stoa::Errc::kNotSupported) {
    ++count.skipped;
    std::printf("skipped: %s\n", done.error().detail.c_str());
    fs::remove_all(folder);
  } else {
    ++count.failed;
    std::printf(
        "FAILED after %.1f s\n%s\nrepeat it with --seed %llu --scenario %s --effort %u; the data is kept in %s\n", took,
        stoa::describe(done.error()).c_str(), static_cast<unsigned long long>(seed), std::string(scenario.name).c_str(),
        options.effort, folder.c_str());
  }
  std::fflush(stdout);
}

void hangs(int) {
  constexpr char kText[] = "FAILED: the scenario does not come to an end\n";
  [[maybe_unused]] const ssize_t written = ::write(1, kText, sizeof kText - 1);
  ::_exit(1);  // the servers end with us
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc == 2 && std::string_view(argv[1]) == "--list") {
    for (const Scenario& scenario : scenarios()) std::printf("%s\n", std::string(scenario.name).c_str());
    return 0;
  }
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s [--seconds N] [--seed N] [--scenario NAME] [--effort N] [--build DIR] [--list]\n",
                 argv[0]);
    return 2;
  }
  // The callers of NFSv4 expect by GoogleTest that they reach their server, which may be dead here: we see that
  // ourselves.
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGALRM, hangs);
  std::string pattern = (fs::current_path() / "torture.XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());

  Count count;
  const auto begin = Clock::now();
  // Every scenario once, then again with other seeds as long as there is time.
  for (std::uint64_t seed = options.seed;
       count.failed == 0 && (seed == options.seed || seconds_since(begin) < options.seconds); ++seed) {
    for (const Scenario& scenario : scenarios()) {
      const bool wanted = options.scenario.empty() || options.scenario == scenario.name;
      if (wanted && (seed == options.seed || seconds_since(begin) < options.seconds))
        run_one(scenario, options, seed, folder, count);
    }
  }
  if (count.failed == 0) fs::remove_all(folder);
  std::printf("torture: %d passed, %d failed, %d skipped in %.0f s\n", count.passed, count.failed, count.skipped,
              seconds_since(begin));
  return count.failed == 0 ? 0 : 1;
}
