// lib_load: drives one load of libstoa against one server and prints one line of JSON.
//
// Prepared files lie under "prep-lib-..." in the export, and are found again by later runs; files made while timed
// under "run-lib-LOAD-TAG". The session is new, and its caches are empty.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "bench/load/die.h"
#include "bench/load/lib_loads.h"

namespace stoa::bench {
namespace {

// One at a time a call is quicker than a ring.
void read_small(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  (options.inflight == 1 ? read_by_name : read_by_ring)(options, session, outcome);
}

const std::map<std::string, LibLoad>& lib_loads() {
  static const std::map<std::string, LibLoad> loads{
      {"getattr", stat_by_name},  {"lookup", stat_by_name},          {"getattr-ring", stat_by_ring},
      {"read-small", read_small}, {"read-small-call", read_by_name}, {"create-write", create_durably},
      {"seq-write", write_file},  {"seq-read", read_file},
  };
  return loads;
}

int run(const LibOptions& options) {
  const auto load = lib_loads().find(options.load);
  if (load == lib_loads().end()) {
    std::string names;
    for (const auto& [name, function] : lib_loads()) names += " " + name;
    die("no load is called " + options.load + "; there are:" + names);
  }
  const LibSession session(options.url, options.key_file, options.connections);
  Outcome outcome(options.server_pids);
  load->second(options, session, outcome);
  std::puts(outcome.to_json(options.load, options.connections, options.inflight, options.seed).c_str());
  return outcome.errors() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace stoa::bench

int main(int argc, char** argv) {
  stoa::bench::LibOptions o;
  CLI::App app{"One load of libstoa; prints one line of JSON. Exit status 1: some operations failed."};
  app.add_option("--url", o.url, "URL of the export")->required();
  app.add_option("--key-file", o.key_file, "File with the key")->required();
  app.add_option("--load", o.load, "Which load")->required();
  app.add_option("--tag", o.tag, "Another word for each run on the same export");
  app.add_option("--connections", o.connections, "Channels, and threads")->check(CLI::Range(1, 16));
  app.add_option("--inflight", o.inflight, "Operations in one call, or in the ring of a thread")
      ->check(CLI::Range(1, 64));
  app.add_option("--count", o.count, "Operations at most (0: as many as --seconds allows)");
  app.add_option("--seconds", o.seconds, "Time limit of loads that have one");
  app.add_option("--files", o.files, "Files that are prepared");
  app.add_option("--bytes", o.bytes, "Size of the file of data loads");
  app.add_option("--seed", o.seed, "Seed of the random choices");
  app.add_option("--pid", o.server_pids, "Processes of the server, whose CPU is reported")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  if (o.tag.size() > 32) stoa::bench::die("the tag is longer than 32 bytes");
  return stoa::bench::run(o);
}
