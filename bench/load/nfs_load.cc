// nfs_load: drives one load against one NFSv3 server and prints one line of JSON.
//
// Prepared files of a load (and a directory of many entries) are made under "prep-..." in the export and found again
// by later runs; files made while timed lie under "run-TAG".
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "bench/load/die.h"
#include "bench/load/nfs_call.h"
#include "bench/load/nfs_phases.h"

namespace stoa::bench {
namespace {

constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
constexpr unsigned kPrepareInflight = 16;
constexpr std::uint32_t kMiB = 1 << 20;
constexpr std::uint32_t kSmall = 4096;

struct Options {
  Target target;
  std::string load;
  std::string tag = "0";
  unsigned connections = 2;
  unsigned inflight = 16;
  std::uint64_t count = 0;
  std::uint64_t files = 10'000;
  std::uint64_t directories = 0;
  std::uint64_t bytes = std::uint64_t{256} << 20;
  double seconds = 5;
  std::uint64_t seed = 1;
  std::vector<int> server_pids;
};

class LoadRun {
 public:
  explicit LoadRun(const Options& options)
      : o_(options), session_(options.target, options.connections), outcome_(options.server_pids) {}

  int run();

 private:
  Handle fresh_directory() {
    Handle dir;
    if (const int status = session_.mkdir(session_.root(), "run-" + o_.load + "-" + o_.tag, &dir); status != 0) {
      die("MKDIR run-" + o_.load + "-" + o_.tag + ": " + nfsstat3_to_str(status));
    }
    return dir;
  }
  void must_succeed(const Outcome& outcome, const char* what) {
    if (outcome.errors() > 0) die(std::string("preparing failed (") + what + "): " + outcome.to_json(o_.load, 0, 0, 0));
  }
  Handle prepared_files(std::uint64_t files, std::uint32_t bytes);
  Handle prepared_data(std::uint64_t bytes);
  // Handles of --directories directories, f00000000 and so on.
  std::vector<Handle> prepared_directories();
  void timed(Phase& phase, std::uint64_t count, double seconds) {
    outcome_.begin();
    session_.run(phase, o_.inflight, count, seconds, outcome_);
    outcome_.end();
  }
  std::uint64_t count_or(std::uint64_t otherwise) const { return o_.count > 0 ? o_.count : otherwise; }

  void getattr();
  void lookup() {
    timed(*lookup_files(prepared_files(o_.files, 0), o_.files, o_.seed), count_or(kUnlimited), o_.seconds);
  }
  void stat() { timed(*stat_files(prepared_files(o_.files, 0), o_.files, o_.seed), count_or(kUnlimited), o_.seconds); }
  void read_small() {
    timed(*read_small_files(prepared_files(o_.files, kSmall), o_.files, kSmall, o_.seed), count_or(kUnlimited),
          o_.seconds);
  }
  void create(std::uint32_t bytes) {
    CreateWork work{.dirs = {}, .bytes = bytes, .commit = bytes > 0};
    if (o_.directories > 0) {
      work.dirs = prepared_directories();
      work.prefix = "run-" + o_.tag + "-";
      work.seed = o_.seed;
    } else {
      work.dirs = {fresh_directory()};
    }
    timed(*create_files(work), count_or(kUnlimited), o_.seconds);
  }
  void create_sized() {
    if (o_.bytes == 0 || o_.bytes > kMiB) die("create-sized: --bytes is from 1 to 1 MiB, the most of one WRITE");
    create(static_cast<std::uint32_t>(o_.bytes));
  }
  void list(bool plus) {
    const Handle dir = prepared_files(o_.files, 0);
    timed(*list_directory(dir, plus, o_.files), count_or(kUnlimited), o_.seconds);
    outcome_.note("entries", static_cast<double>(o_.files));
  }
  void remove();
  void rmdir();
  Handle fresh_file();
  void read_written();
  void seq_write();
  void blocks(std::uint32_t bytes, bool random, bool write);

  Options o_;
  NfsSession session_;
  Outcome outcome_;
};

Handle LoadRun::prepared_files(std::uint64_t files, std::uint32_t bytes) {
  const std::string name = "prep-" + std::to_string(files) + "-" + std::to_string(bytes);
  Handle dir;
  // The second name is made last, so the first is whole when it exists.
  if (session_.lookup(session_.root(), name, &dir) == NFS3_OK &&
      session_.lookup(session_.root(), name + "-done", nullptr) == NFS3_OK) {
    return dir;
  }
  if (session_.lookup(session_.root(), name, &dir) != NFS3_OK && session_.mkdir(session_.root(), name, &dir) != NFS3_OK)
    die("MKDIR " + name);
  Outcome outcome;
  session_.run(*create_files({.dirs = {dir}, .bytes = bytes}), kPrepareInflight, files, 0, outcome);
  must_succeed(outcome, "files");
  if (session_.mkdir(session_.root(), name + "-done", nullptr) != NFS3_OK) die("MKDIR " + name + "-done");
  return dir;
}

std::vector<Handle> LoadRun::prepared_directories() {
  const std::string name = "prep-dirs-" + std::to_string(o_.directories);
  Handle above;
  Outcome outcome;
  if (session_.lookup(session_.root(), name, &above) != NFS3_OK) {
    if (session_.mkdir(session_.root(), name, &above) != NFS3_OK) die("MKDIR " + name);
    session_.run(*make_directories(above), kPrepareInflight, o_.directories, 0, outcome);
    must_succeed(outcome, "directories");
  }
  std::vector<Handle> handles;
  session_.run(*collect_handles(above, &handles), kPrepareInflight, o_.directories, 0, outcome);
  must_succeed(outcome, "handles of directories");
  return handles;
}

Handle LoadRun::prepared_data(std::uint64_t bytes) {
  const std::string name = "data-" + std::to_string(bytes);
  Handle dir;
  Handle file;
  std::uint64_t size = 0;
  if (session_.lookup(session_.root(), name, &dir) == NFS3_OK &&
      session_.lookup(dir, file_name(0), &file, &size) == NFS3_OK &&
      session_.lookup(session_.root(), name + "-done", nullptr) == NFS3_OK) {
    return file;
  }
  if (session_.lookup(session_.root(), name, &dir) != NFS3_OK && session_.mkdir(session_.root(), name, &dir) != NFS3_OK)
    die("MKDIR " + name);
  Outcome outcome;
  session_.run(*create_files({.dirs = {dir}}), 1, 1, 0, outcome);
  must_succeed(outcome, "data file");
  if (session_.lookup(dir, file_name(0), &file) != NFS3_OK) die("LOOKUP of the data file");
  session_.run(*write_blocks({.file = file, .bytes = kMiB, .blocks = bytes / kMiB}), 4, bytes / kMiB, 0, outcome);
  session_.run(*commit_file(file), 1, 1, 0, outcome);
  must_succeed(outcome, "data");
  if (session_.mkdir(session_.root(), name + "-done", nullptr) != NFS3_OK) die("MKDIR " + name + "-done");
  return file;
}

void LoadRun::getattr() {
  if (o_.directories > 0)
    return timed(*getattr_directories(prepared_directories(), o_.seed), count_or(kUnlimited), o_.seconds);
  const Handle dir = prepared_files(o_.files, 0);
  std::vector<Handle> handles;
  Outcome outcome;
  session_.run(*collect_handles(dir, &handles), kPrepareInflight, o_.files, 0, outcome);
  must_succeed(outcome, "handles");
  timed(*getattr_files(handles, o_.seed), count_or(kUnlimited), o_.seconds);
}

void LoadRun::remove() {
  const Handle dir = fresh_directory();
  const std::uint64_t count = count_or(o_.files);
  Outcome outcome;
  session_.run(*create_files({.dirs = {dir}}), kPrepareInflight, count, 0, outcome);
  must_succeed(outcome, "files to remove");
  outcome_.plan(count);
  timed(*remove_files(dir), count, 0);
}

void LoadRun::rmdir() {
  const Handle dir = fresh_directory();
  const std::uint64_t count = count_or(o_.files);
  Outcome outcome;
  session_.run(*make_directories(dir), kPrepareInflight, count, 0, outcome);
  must_succeed(outcome, "directories to remove");
  outcome_.plan(count);
  timed(*remove_directories(dir), count, 0);
}

Handle LoadRun::fresh_file() {
  const Handle dir = fresh_directory();
  Outcome outcome;
  session_.run(*create_files({.dirs = {dir}}), 1, 1, 0, outcome);
  must_succeed(outcome, "file");
  Handle file;
  if (session_.lookup(dir, file_name(0), &file) != NFS3_OK) die("LOOKUP of the file");
  return file;
}

void LoadRun::read_written() {
  const Handle file = fresh_file();
  const BlockWork work{.file = file, .bytes = kMiB, .blocks = o_.bytes / kMiB};
  Outcome outcome;
  session_.run(*write_blocks(work), o_.inflight, work.blocks, 0, outcome);
  session_.run(*commit_file(file), 1, 1, 0, outcome);
  must_succeed(outcome, "data");
  timed(*read_blocks(work), work.blocks, 0);
}

void LoadRun::seq_write() {
  const Handle file = fresh_file();
  Outcome outcome;
  const std::uint64_t blocks = o_.bytes / kMiB;
  outcome_.begin();
  session_.run(*write_blocks({.file = file, .bytes = kMiB, .blocks = blocks}), o_.inflight, blocks, 0, outcome_);
  const std::uint64_t written_ns = now_ns();
  session_.run(*commit_file(file), 1, 1, 0, outcome);
  outcome_.end();
  must_succeed(outcome, "COMMIT");
  outcome_.note("commit_ms", static_cast<double>(now_ns() - written_ns) / 1e6);
}

void LoadRun::blocks(std::uint32_t bytes, bool random, bool write) {
  const Handle file = prepared_data(o_.bytes);
  const BlockWork work{
      .file = file, .bytes = bytes, .blocks = o_.bytes / bytes, .random = random, .file_sync = write, .seed = o_.seed};
  const auto phase = write ? write_blocks(work) : read_blocks(work);
  timed(*phase, count_or(random ? kUnlimited : work.blocks), random ? o_.seconds : 0);
}

int LoadRun::run() {
  using Step = void (*)(LoadRun&);
  static const std::map<std::string, Step> kLoads{
      {"getattr", [](LoadRun& r) { r.getattr(); }},
      {"lookup", [](LoadRun& r) { r.lookup(); }},
      {"stat", [](LoadRun& r) { r.stat(); }},
      {"read-small", [](LoadRun& r) { r.read_small(); }},
      {"create-empty", [](LoadRun& r) { r.create(0); }},
      {"create-write", [](LoadRun& r) { r.create(kSmall); }},
      {"create-sized", [](LoadRun& r) { r.create_sized(); }},
      {"readdir", [](LoadRun& r) { r.list(false); }},
      {"readdirplus", [](LoadRun& r) { r.list(true); }},
      {"remove", [](LoadRun& r) { r.remove(); }},
      {"rmdir", [](LoadRun& r) { r.rmdir(); }},
      {"seq-write", [](LoadRun& r) { r.seq_write(); }},
      {"read-written", [](LoadRun& r) { r.read_written(); }},
      {"seq-read", [](LoadRun& r) { r.blocks(kMiB, false, false); }},
      {"rand-read", [](LoadRun& r) { r.blocks(kSmall, true, false); }},
      {"rand-write-sync", [](LoadRun& r) { r.blocks(kSmall, true, true); }},
      // Only makes the files of other loads.
      {"prepare-files", [](LoadRun& r) { r.prepared_files(r.o_.files, 0); }},
      {"prepare-directories", [](LoadRun& r) { r.prepared_directories(); }},
      {"prepare-small", [](LoadRun& r) { r.prepared_files(r.o_.files, kSmall); }},
      {"prepare-data", [](LoadRun& r) { r.prepared_data(r.o_.bytes); }},
  };
  const auto load = kLoads.find(o_.load);
  if (load == kLoads.end()) {
    std::string names;
    for (const auto& [name, step] : kLoads) names += " " + name;
    die("no load is called " + o_.load + "; there are:" + names);
  }
  load->second(*this);
  std::puts(outcome_.to_json(o_.load, o_.connections, o_.inflight, o_.seed).c_str());
  return outcome_.errors() > 0 ? 1 : 0;
}

}  // namespace
}  // namespace stoa::bench

int main(int argc, char** argv) {
  stoa::bench::Options o;
  CLI::App app{"One load against one NFSv3 server; prints one line of JSON. Exit status 1: some operations failed."};
  app.add_option("--host", o.target.host, "Address of the server")->required();
  app.add_option("--port", o.target.port, "NFS port")->required();
  app.add_option("--mount-port", o.target.mount_port, "MOUNT port")->required();
  app.add_option("--export", o.target.export_path, "Path to mount")->required();
  app.add_option("--load", o.load, "Which load")->required();
  app.add_option("--tag", o.tag, "Another word for each run on the same export");
  app.add_option("--connections", o.connections, "TCP connections")->check(CLI::Range(1, 256));
  app.add_option("--inflight", o.inflight, "Requests in flight on each connection")->check(CLI::Range(1, 4096));
  app.add_option("--count", o.count, "Operations at most (0: as many as --seconds allows)");
  app.add_option("--seconds", o.seconds, "Time limit of loads that have one");
  app.add_option("--files", o.files, "Files that are prepared, or entries of the listed directory");
  app.add_option("--directories", o.directories,
                 "getattr, create-empty, create-write: spread over so many prepared directories (0: one)");
  app.add_option("--bytes", o.bytes, "Size of the file of data loads, or of each of create-sized");
  app.add_option("--seed", o.seed, "Seed of the random choices");
  app.add_option("--pid", o.server_pids, "Processes of the server, whose CPU is reported")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  if (o.tag.size() > 32) stoa::bench::die("the tag is longer than 32 bytes");
  return stoa::bench::LoadRun(o).run();
}
