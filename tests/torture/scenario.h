// One kind of harm, done to servers of its own: the environment of a scenario, and the list of
// scenarios.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tests/clients/server_process.h"
#include "tests/model/random.h"
#include "tests/torture/faults.h"

namespace stoa::torture {

// How long a server may take to reach its final state.
constexpr auto kPatience = std::chrono::seconds(20);

struct Tools {
  std::string build;    // build folder with the stoad and stoa to use
  std::string serve;    // tests/serve
  std::string preload;  // faults_preload.c
  std::string stoa() const { return build + "/bin/stoa"; }
};

// One run of a scenario, wholly given by its seed (but for timing).
class Run {
 public:
  Run(const Tools& tools, std::filesystem::path folder, std::uint64_t seed, unsigned effort)
      : tools(tools), folder(std::move(folder)), effort(effort), random(seed) {}

  const Tools& tools;
  const std::filesystem::path folder;  // empty; everything is made below it
  const unsigned effort;               // 1 in the short form: the amount of work is proportional
  model::Random random;
  std::uint64_t operations = 0;  // done to servers, for the report

  // tests/serve on this data folder. Its output goes to DATA.log.
  Result<std::unique_ptr<clients::ServerProcess>> start(const std::filesystem::path& data,
                                                        const std::vector<std::string>& flags = {},
                                                        const Faults* faults = nullptr);
  // The output of a server that did not start, or ended.
  std::string last_words(const std::filesystem::path& data) const;
  // `stoa ARGUMENTS`, for the server in this data folder, or for none.
  int stoa(const std::filesystem::path& data, const std::vector<std::string>& arguments, std::string* output) const;
  // `stoa check`: fails with its findings.
  Status check(const std::filesystem::path& data) const;

 private:
  struct Logs {
    std::string output, server;
  };
  Logs logs_of(const std::filesystem::path& data) const;
};

// A fault seen in a server; the text is for people.
inline std::unexpected<Error> broken(std::string what) {
  return fail(Errc::kCorrupt, std::move(what));
}
// This machine cannot do it.
inline std::unexpected<Error> skipped(std::string why) {
  return fail(Errc::kNotSupported, std::move(why));
}

struct Scenario {
  std::string_view name;
  Status (*run)(Run& run);
};
std::span<const Scenario> scenarios();

// Each in a file of its name.
Status content(Run& run);
Status crash(Run& run);
Status lost_metadata(Run& run);
Status copied_folder(Run& run);
Status full_disk(Run& run);
Status failed_store(Run& run);
Status slow_disk(Run& run);
Status flipped_bits(Run& run);
Status moved_out(Run& run);

}  // namespace stoa::torture
