#include "bench/load/outcome.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

namespace stoa::bench {

std::uint64_t now_ns() {
  timespec ts{};
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return static_cast<std::uint64_t>(ts.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(ts.tv_nsec);
}

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& tv) {
    return static_cast<double>(tv.tv_sec) + static_cast<double>(tv.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double cpu_seconds_of(const std::vector<int>& pids) {
  double ticks = 0;
  for (const int pid : pids) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    // The command name, in brackets, may hold blanks; utime and stime are the 12th and 13th field behind it.
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string::npos) continue;
    std::istringstream fields(line.substr(bracket + 1));
    std::string field;
    for (int i = 0; i < 11; ++i) fields >> field;
    double utime = 0;
    double stime = 0;
    fields >> utime >> stime;
    ticks += utime + stime;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double machine_cpu_seconds() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  file >> cpu;
  double busy = 0;
  for (int column = 0; column < 8; ++column) {
    double ticks = 0;
    file >> ticks;
    if (column != 3 && column != 4) busy += ticks;  // idle and iowait
  }
  return busy / static_cast<double>(sysconf(_SC_CLK_TCK));
}

Outcome::Cpu Outcome::measure_cpu() const {
  return {.generator = process_cpu_seconds(),
          .server = cpu_seconds_of(server_pids_),
          .client = cpu_seconds_of(client_pids_),
          .machine = machine_cpu_seconds()};
}

void Outcome::begin() {
  cpu_began_ = measure_cpu();
  began_ns_ = now_ns();
}

void Outcome::end() {
  ended_ns_ = now_ns();
  cpu_ended_ = measure_cpu();
}

void Outcome::succeeded(std::uint64_t started_ns, std::uint64_t bytes) {
  const std::uint64_t now = now_ns();
  operations_.record(now - started_ns);
  bytes_ += bytes;
  if (planned_ >= 10) {
    if (operations_.count() == planned_ / 10) first_tenth_ns_ = now - began_ns_;
    if (operations_.count() == planned_ - planned_ / 10) last_tenth_from_ns_ = now;
  }
}

void Outcome::add(const Outcome& other) {
  operations_.add(other.operations_);
  requests_.add(other.requests_);
  bytes_ += other.bytes_;
  for (const auto& [why, count] : other.errors_) errors_[why] += count;
}

std::uint64_t Outcome::errors() const {
  std::uint64_t sum = 0;
  for (const auto& [why, count] : errors_) sum += count;
  return sum;
}

std::string Outcome::to_json(const std::string& load, unsigned connections, unsigned inflight,
                             std::uint64_t seed) const {
  const double seconds = static_cast<double>(ended_ns_ - began_ns_) / 1e9;
  const auto rate = [](double amount, double over) { return over > 0 ? amount / over : 0.0; };
  const auto us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  nlohmann::json json{
      {"load", load},
      {"connections", connections},
      {"inflight", inflight},
      {"seed", seed},
      {"seconds", seconds},
      {"operations", operations_.count()},
      {"ops_per_s", rate(static_cast<double>(operations_.count()), seconds)},
      {"bytes_per_s", rate(static_cast<double>(bytes_), seconds)},
      {"bytes", bytes_},
      {"p50_us", us(operations_.percentile(0.50))},
      {"p99_us", us(operations_.percentile(0.99))},
      {"p999_us", us(operations_.percentile(0.999))},
      {"max_us", us(operations_.max())},
      {"errors", errors()},
      {"errors_by_reason", errors_},
      {"machine_cpu_s", cpu_ended_.machine - cpu_began_.machine},
  };
  const auto cpu = [&](const std::string& whose, double used) {
    json[whose + "_cpu_s"] = used;
    json[whose + "_cpu_us_per_op"] = rate(used * 1e6, static_cast<double>(operations_.count()));
    if (bytes_ > 0) json[whose + "_cpu_s_per_gb"] = rate(used, static_cast<double>(bytes_) / 1e9);
  };
  cpu("generator", cpu_ended_.generator - cpu_began_.generator);
  if (!server_pids_.empty()) cpu("server", cpu_ended_.server - cpu_began_.server);
  if (!client_pids_.empty()) cpu("client", cpu_ended_.client - cpu_began_.client);
  if (requests_.count() > 0) {
    json["requests"] = requests_.count();
    json["request_p50_us"] = us(requests_.percentile(0.50));
    json["request_p99_us"] = us(requests_.percentile(0.99));
  }
  if (first_tenth_ns_ > 0 && last_tenth_from_ns_ > 0) {
    const double tenth = static_cast<double>(planned_ / 10);
    json["first_tenth_ops_per_s"] = rate(tenth, static_cast<double>(first_tenth_ns_) / 1e9);
    json["last_tenth_ops_per_s"] = rate(tenth, static_cast<double>(ended_ns_ - last_tenth_from_ns_) / 1e9);
  }
  for (const auto& [name, value] : notes_) json[name] = value;
  return json.dump();
}

}  // namespace stoa::bench
