// stoa stats: what a running mount tells of itself.
#include <memory>

#include "appliance/cli/session.h"
#include "frontends/native/mount/mount_monitor.h"

namespace stoa::cli {
namespace {

struct StatsLine {
  std::string directory;
  bool prometheus = false;
};

// As the text format of Prometheus wants a value of a label.
std::string label(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return '"' + safe + '"';
}

// What goes up and down; the rest only goes up.
bool is_gauge(const std::string& name) {
  return name == "leases" || name == "cache_bytes" || name == "local_opens" || name == "unsent_bytes";
}

void print_prometheus(const native::mount::MountReport& report, const std::string& directory) {
  const std::string labels = "{directory=" + label(directory) + ",server=" + label(report.server) +
                             ",transport=" + label(report.transport) + "}";
  for (const auto& [name, value] : report.counters) {
    const bool gauge = is_gauge(name);
    const std::string full = "stoa_mount_" + name + (gauge ? "" : "_total");
    std::printf("# TYPE %s %s\n%s%s %llu\n", full.c_str(), gauge ? "gauge" : "counter", full.c_str(), labels.c_str(),
                static_cast<unsigned long long>(value));
  }
}

Outcome stats(const Session& session, const StatsLine& line) {
  STOA_TRY(watch, native::mount::MountWatch::connect(line.directory));
  STOA_TRY(report, watch.next());
  if (line.prometheus) {
    print_prometheus(report, line.directory);
    return kDone;
  }
  Json all{{"server", report.server}, {"transport", report.transport}, {"process", report.process}};
  for (const auto& [name, value] : report.counters) all[name] = value;
  session.print(all, [&] {
    Table table({"WHAT", "VALUE"});
    table.add({"server", printable(report.server)});
    table.add({"transport", printable(report.transport)});
    table.add({"process", std::to_string(report.process)});
    for (const auto& [name, value] : report.counters) table.add({printable(name), std::to_string(value)});
    table.print();
  });
  return kDone;
}

}  // namespace

void add_stats_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("stats", "Tell what a mount of this machine does: calls, caches, leases, unsafe bytes");
  const auto o = std::make_shared<StatsLine>();
  command->add_option("dir", o->directory, "The directory that it is mounted on")->required();
  command->add_flag("--prometheus", o->prometheus, "Print the text format of Prometheus");
  command->callback([&session, o] { session.command = [&session, o] { return stats(session, *o); }; });
}

}  // namespace stoa::cli
