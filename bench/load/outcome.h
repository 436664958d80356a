// Result of one run of a load: counts, times and every error, as one line of JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/load/histogram.h"

namespace stoa::bench {

std::uint64_t now_ns();        // monotonic
double process_cpu_seconds();  // of this generator, so that a reader sees when it was the bottleneck

// CPU seconds that the processes have used up to now, threads that ended included; an ended process adds nothing.
double cpu_seconds_of(const std::vector<int>& pids);
// CPU seconds that the whole machine has been busy: shows also the kernel's own threads (write-back, journal).
double machine_cpu_seconds();

class Outcome {
 public:
  // Asks for the CPU of these processes over the timed part; `client_pids` are those that stand between this program
  // and the server, such as that of a mount.
  explicit Outcome(std::vector<int> server_pids = {}, std::vector<int> client_pids = {})
      : server_pids_(std::move(server_pids)), client_pids_(std::move(client_pids)) {}
  void begin();
  void end();
  void succeeded(std::uint64_t started_ns, std::uint64_t bytes);
  void request(std::uint64_t started_ns) { requests_.record(now_ns() - started_ns); }
  void failed(const std::string& why) { ++errors_[why]; }
  // What another thread has counted: operations, bytes, errors.
  void add(const Outcome& other);
  void note(const std::string& name, double value) { notes_[name] = value; }

  // For loads that ask whether they slow down: operations finished so far are cut into equal tenths of `planned`.
  void plan(std::uint64_t planned) { planned_ = planned; }

  std::uint64_t errors() const;
  std::string first_error() const { return errors_.empty() ? "" : errors_.begin()->first; }
  std::uint64_t operations() const { return operations_.count(); }
  std::string to_json(const std::string& load, unsigned connections, unsigned inflight, std::uint64_t seed) const;

 private:
  Histogram operations_;
  Histogram requests_;
  std::map<std::string, std::uint64_t> errors_;
  std::map<std::string, double> notes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t planned_ = 0;
  std::uint64_t first_tenth_ns_ = 0;
  std::uint64_t last_tenth_from_ns_ = 0;
  std::uint64_t began_ns_ = 0;
  std::uint64_t ended_ns_ = 0;
  struct Cpu {
    double generator = 0;
    double server = 0;
    double client = 0;
    double machine = 0;
  };
  Cpu measure_cpu() const;
  std::vector<int> server_pids_, client_pids_;
  Cpu cpu_began_;
  Cpu cpu_ended_;
};

}  // namespace stoa::bench
