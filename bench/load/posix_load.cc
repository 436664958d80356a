// posix_load: drives one load of system calls on the files of a directory, such as a mount, and prints one line of
// JSON.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "bench/load/die.h"
#include "bench/load/posix_loads.h"

namespace stoa::bench {
namespace {

// Nothing is done: what the processes cost at rest.
void rest(const PosixOptions& options, Outcome& outcome) {
  outcome.begin();
  const std::uint64_t began_ns = now_ns();
  std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
  outcome.succeeded(began_ns, 0);
  outcome.end();
}

const std::map<std::string, PosixLoad>& posix_loads() {
  static const auto nothing = [](const PosixOptions&) {};
  static const std::map<std::string, PosixLoad> loads{
      {"create-write", {nothing, [](const PosixOptions& o, Outcome& to) { create_files(o, to, false); }}},
      {"create-fsync", {nothing, [](const PosixOptions& o, Outcome& to) { create_files(o, to, true); }}},
      {"stat", {prepare_small_files, stat_files}},
      {"open-read-close", {prepare_small_files, open_read_close}},
      {"unlink", {nothing, unlink_files}},
      {"seq-write", {nothing, write_sequentially}},
      {"seq-read", {prepare_data, read_sequentially}},
      {"rand-read-direct", {prepare_data, read_directly}},
      {"rand-write-sync", {prepare_data, write_durably}},
      {"mmap-read", {prepare_data, read_mapped}},
      {"mmap-write", {prepare_data, write_mapped}},
      {"ls-l", {nothing, list_long}},
      {"walk", {walk_once, walk}},
      {"rest", {nothing, rest}},
  };
  return loads;
}

int run(const PosixOptions& options, bool prepare) {
  const auto load = posix_loads().find(options.load);
  if (load == posix_loads().end()) {
    std::string names;
    for (const auto& [name, functions] : posix_loads()) names += " " + name;
    die("no load is called " + options.load + "; there are:" + names);
  }
  if (prepare) {
    load->second.prepare(options);
    return 0;
  }
  Outcome outcome(options.server_pids, options.client_pids);
  load->second.run(options, outcome);
  std::puts(outcome.to_json(options.load, options.threads, 1, options.seed).c_str());
  return outcome.errors() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace stoa::bench

int main(int argc, char** argv) {
  stoa::bench::PosixOptions o;
  bool prepare = false;
  CLI::App app{"One load of system calls on files; prints one line of JSON. Exit status 1: some operations failed."};
  app.add_option("--directory", o.directory, "Where the files are")->required();
  app.add_option("--load", o.load, "Which load")->required();
  app.add_flag("--prepare", prepare, "Make what the load needs, go through it once, and print nothing");
  app.add_option("--tag", o.tag, "Another word for each run in the same directory");
  app.add_option("--tree", o.tree, "What ls-l and walk look at, below the directory");
  app.add_option("--threads", o.threads, "Threads, each with files of its own")->check(CLI::Range(1, 256));
  app.add_option("--count", o.count, "Operations at most (0: as many as --seconds allows)");
  app.add_option("--seconds", o.seconds, "Time limit of loads that have one");
  app.add_option("--files", o.files, "Small files, or files of the tree");
  app.add_option("--bytes", o.bytes, "Size of the data files together");
  app.add_option("--seed", o.seed, "Seed of the random choices");
  app.add_option("--pid", o.server_pids, "Processes whose CPU is reported as the server's")->delimiter(',');
  app.add_option("--client-pid", o.client_pids, "Processes whose CPU is reported as the client's")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  if (o.tag.size() > 32) stoa::bench::die("the tag is longer than 32 bytes");
  return stoa::bench::run(o, prepare);
}
