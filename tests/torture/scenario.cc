#include "tests/torture/scenario.h"

#include <deque>
#include <fstream>

namespace stoa::torture {
namespace fs = std::filesystem;

std::span<const Scenario> scenarios() {
  static constexpr Scenario kAll[] = {
      {"content", content},
      {"crash", crash},
      {"lost_metadata", lost_metadata},
      {"copied_folder", copied_folder},
      {"full_disk", full_disk},
      {"failed_store", failed_store},
      {"slow_disk", slow_disk},
      {"flipped_bits", flipped_bits},
      {"moved_out", moved_out},
  };
  return kAll;
}

// Not on the disk of the data, which a scenario may fill or fail.
Run::Logs Run::logs_of(const fs::path& data) const {
  const std::string name = (folder / data.filename()).string();
  return {.output = name + ".output.log", .server = name + ".stoad.log"};
}

Result<std::unique_ptr<clients::ServerProcess>> Run::start(const fs::path& data, const std::vector<std::string>& flags,
                                                           const Faults* faults) {
  fs::create_directories(data);
  const Logs logs = logs_of(data);
  // Through a shell for its redirection only.
  std::vector<std::string> command{"/bin/bash", "-c", R"(log=$1; shift; exec "$@" 2> "$log")", "torture", logs.output};
  if (faults != nullptr)
    command.insert(command.end(), {"/usr/bin/env", "STOA_TORTURE_FAULTS=" + faults->page().string()});
  command.insert(command.end(), {tools.serve, "--build", tools.build, "--data", data.string()});
  if (faults != nullptr) command.insert(command.end(), {"--preload", tools.preload});
  // Nothing is reclaimed here.
  command.insert(command.end(), {"--", "--volume-grace-ms", "0", "--log-file", logs.server});
  command.insert(command.end(), flags.begin(), flags.end());
  std::string why;
  auto server = clients::ServerProcess::start(command, &why);
  if (server == nullptr) return broken("the server does not start:\n" + last_words(data));
  return server;
}

std::string Run::last_words(const fs::path& data) const {
  std::string text;
  const Logs logs = logs_of(data);
  for (const std::string& log : {logs.server, logs.output}) {
    std::deque<std::string> lines;
    std::ifstream in(log);
    for (std::string line; std::getline(in, line);) {
      lines.push_back(std::move(line));
      if (lines.size() > 12) lines.pop_front();
    }
    for (const std::string& line : lines) text += "  " + line + "\n";
  }
  return text;
}

int Run::stoa(const fs::path& data, const std::vector<std::string>& arguments, std::string* output) const {
  std::vector<std::string> command{tools.stoa(), "--data", data.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return clients::run_command(command, output);
}

Status Run::check(const fs::path& data) const {
  std::string output;
  const int code = stoa(data, {"check"}, &output);
  if (code != 0)
    return broken("stoa check of " + data.string() + " ends with " + std::to_string(code) + ":\n" + output);
  return {};
}

}  // namespace stoa::torture
