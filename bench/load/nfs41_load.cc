// nfs41_load: drives one load against one NFSv4.1 server and prints one line of JSON.
//
// Prepared files of a load lie under "prep41-..." in the export and are found again by later runs; files made while
// timed lie under "run41-LOAD-TAG".
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "bench/load/die.h"
#include "bench/load/nfs41_phases.h"

namespace stoa::bench {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
constexpr std::uint32_t kSmall = 4096;

struct Options {
  Target41 target;
  std::string load;
  std::string tag = "0";
  unsigned connections = 2;
  unsigned inflight = 16;
  std::uint64_t count = 0;
  std::uint64_t files = 10'000;
  double seconds = 5;
  std::uint64_t seed = 1;
  std::vector<int> server_pids;
};

class LoadRun {
 public:
  explicit LoadRun(const Options& options)
      : o_(options),
        client_(loop_, options.target, "nfs41_load", options.connections, options.inflight),
        outcome_(options.server_pids) {}

  int run();

 private:
  Handle41 fresh_directory() {
    const std::string name = "run41-" + o_.load + "-" + o_.tag;
    Handle41 dir;
    if (const auto status = client_.make_directory(client_.root(), name, &dir); status != kNfs4Ok)
      die("CREATE " + name + ": " + status_name(status));
    return dir;
  }
  Handle41 prepared_files(std::uint32_t bytes);
  // Not timed, and must succeed.
  void prepare(Phase41& phase, std::uint64_t count, const char* what) {
    Outcome outcome;
    client_.run(phase, o_.inflight, count, 0, outcome);
    if (outcome.errors() > 0) die(std::string(what) + " failed: " + outcome.to_json(o_.load, 0, 0, 0));
  }
  void timed(Phase41& phase) {
    outcome_.begin();
    client_.run(phase, o_.inflight, o_.count > 0 ? o_.count : kUnlimited, o_.seconds, outcome_);
    outcome_.end();
  }
  void note_delegations(const DelegationCounts& counts) {
    outcome_.note("delegations", static_cast<double>(counts.granted));
    outcome_.note("opens_without_delegation", static_cast<double>(counts.refused));
    outcome_.note("recalls", static_cast<double>(client_.recalls()));
  }
  OpenWork41 open_work() {
    return {.dir = prepared_files(kSmall), .files = o_.files, .bytes = kSmall, .seed = o_.seed};
  }

  void getattr();
  void create_write() { timed(*create_files({.dir = fresh_directory(), .bytes = kSmall, .commit = true})); }
  void open_read_close() { timed(*bench::open_read_close(open_work())); }
  void lock();
  void open_delegated();
  void recall();

  const Options o_;
  Loop41 loop_;
  Client41 client_;
  Outcome outcome_;
};

Handle41 LoadRun::prepared_files(std::uint32_t bytes) {
  const std::string name = "prep41-" + std::to_string(o_.files) + "-" + std::to_string(bytes);
  const std::string whole = name + "-done";  // made last
  const Handle41& root = client_.root();
  Handle41 dir;
  std::uint32_t status = client_.lookup(root, name, &dir);
  if (status == kNfs4Ok && client_.lookup(root, whole, nullptr) == kNfs4Ok) return dir;
  if (status == kNfs4NoEnt) status = client_.make_directory(root, name, &dir);
  if (status != kNfs4Ok) die("CREATE " + name + ": " + status_name(status));
  prepare(*create_files({.dir = dir, .bytes = bytes}), o_.files, "preparing files");
  if (client_.make_directory(root, whole, nullptr) != kNfs4Ok) die("CREATE " + whole);
  return dir;
}

void LoadRun::getattr() {
  const Handle41 dir = prepared_files(0);
  std::vector<Handle41> handles;
  prepare(*collect_handles(dir, &handles), o_.files, "looking up files");
  timed(*getattr_files(handles, o_.seed));
}

void LoadRun::lock() {
  std::vector<LockedFile> files(client_.slots());
  prepare(*open_files(fresh_directory(), files), client_.slots(), "opening files");
  timed(*lock_unlock(files, o_.seed));
  prepare(*close_files(files), client_.slots(), "closing files");
}

void LoadRun::open_delegated() {
  std::vector<CachedFile> files(client_.slots());
  DelegationCounts counts;
  timed(*open_cached(open_work(), files, counts));
  note_delegations(counts);
  prepare(*return_delegations(files), client_.slots(), "returning delegations");
}

void LoadRun::recall() {
  Client41 other(loop_, o_.target, "nfs41_load other", o_.connections, o_.inflight);
  DelegationCounts counts;
  timed(*recall_delegations(open_work(), other, counts));
  note_delegations(counts);
  if (const std::string wrong = other.end(); !wrong.empty()) outcome_.failed("ending the other client: " + wrong);
}

int LoadRun::run() {
  using Step = void (*)(LoadRun&);
  static const std::map<std::string, Step> kLoads{
      {"getattr", [](LoadRun& r) { r.getattr(); }},
      {"create-write", [](LoadRun& r) { r.create_write(); }},
      {"open-read-close", [](LoadRun& r) { r.open_read_close(); }},
      {"lock", [](LoadRun& r) { r.lock(); }},
      {"deleg-open", [](LoadRun& r) { r.open_delegated(); }},
      {"recall", [](LoadRun& r) { r.recall(); }},
  };
  const auto load = kLoads.find(o_.load);
  if (load == kLoads.end()) {
    std::string names;
    for (const auto& [name, step] : kLoads) names += " " + name;
    die("no load is called " + o_.load + "; there are:" + names);
  }
  load->second(*this);
  if (const std::string wrong = client_.end(); !wrong.empty()) outcome_.failed("ending the client: " + wrong);
  std::puts(outcome_.to_json(o_.load, o_.connections, o_.inflight, o_.seed).c_str());
  return outcome_.errors() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace stoa::bench

int main(int argc, char** argv) {
  stoa::bench::Options o;
  CLI::App app{"One load against one NFSv4.1 server; prints one line of JSON. Exit status 1: some operations failed."};
  app.add_option("--host", o.target.host, "Address of the server")->required();
  app.add_option("--port", o.target.port, "NFS port")->required();
  app.add_option("--export", o.target.export_path, "Path in the pseudo file system")->required();
  app.add_option("--load", o.load, "Which load")->required();
  app.add_option("--tag", o.tag, "Another word for each run on the same export");
  app.add_option("--connections", o.connections, "TCP connections of the session")->check(CLI::Range(1, 256));
  app.add_option("--inflight", o.inflight, "Requests in flight on each connection: slots")->check(CLI::Range(1, 1024));
  app.add_option("--count", o.count, "Operations at most (0: as many as --seconds allows)");
  app.add_option("--seconds", o.seconds, "Time limit");
  app.add_option("--files", o.files, "Files that are prepared");
  app.add_option("--seed", o.seed, "Seed of the random choices");
  app.add_option("--pid", o.server_pids, "Processes of the server, whose CPU is reported")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  return stoa::bench::LoadRun(o).run();
}
