// The state shared by all commands: the global options, the connection, the way of printing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "appliance/cli/admin_client.h"
#include "appliance/cli/failure.h"
#include "appliance/data_folder/data_folder.h"
#include "base/error.h"

namespace stoa::cli {

// The result of a command: its exit code, or the error that ends it.
using Outcome = Result<int>;

struct Session {
  // Global options.
  bool json = false;
  std::string data;
  std::string config;
  std::string server;
  std::string token_file;
  std::string ca;
  std::string pin;

  // Set while the command line is parsed; runs afterwards, so that a wrong line never does half of its work.
  std::function<Outcome()> command;
  // Set by connect(): later errors are of the server, not of the command line.
  mutable bool connected = false;

  // --data, else STOA_DATA, else `data` of --config or of /etc/stoa/stoad.toml, else the user's default folder.
  Result<appliance::DataFolder> data_folder() const;
  // The running daemon, with the token of --token-file, else of STOA_TOKEN, else of the data folder. kShutdown, with
  // the remedy: none is running.
  Result<AdminClient> connect() const;

  // Prints the JSON with --json, else calls `people`.
  void print(const Json& json_value, const std::function<void()>& people) const;
};

// Adds everything that stoa can do to `app`. `session` must outlive it.
void build_app(CLI::App& app, Session& session);

// One function for each group of commands.
void add_volume_commands(CLI::App& app, Session& session);
void add_export_commands(CLI::App& app, Session& session);
void add_user_commands(CLI::App& app, Session& session);
void add_group_commands(CLI::App& app, Session& session);
void add_client_commands(CLI::App& app, Session& session);
void add_host_commands(CLI::App& app, Session& session);
void add_token_commands(CLI::App& app, Session& session);
void add_quota_commands(CLI::App& app, Session& session);
void add_qos_commands(CLI::App& app, Session& session);
void add_recycle_commands(CLI::App& app, Session& session);
void add_seal_commands(CLI::App& app, Session& session);
void add_audit_commands(CLI::App& app, Session& session);
void add_watch_command(CLI::App& app, Session& session);
void add_mount_commands(CLI::App& app, Session& session);
void add_stats_command(CLI::App& app, Session& session);
// The line that mount(8) gives to mount.stoa.
void add_mount_helper(CLI::App& app, Session& session);
void add_explain_command(CLI::App& app, Session& session);
void add_events_command(CLI::App& app, Session& session);
void add_acl_commands(CLI::App& app, Session& session);
void add_tree_commands(CLI::App& app, Session& session);
void add_status_commands(CLI::App& app, Session& session);

// A text member, as bytes: NAME_base64 where the name is no UTF-8.
std::string bytes_of(const Json& object, const std::string& member);
// For a terminal: control bytes as \xNN.
std::string printable(std::string_view text);

// A client rule of an export as --client takes it: "10.0.0.0/8,ro,squash=all,anonuid=7,anongid=7".
std::string client_rule_text(const Json& rule);

// The space of a volume, as the interface reports it: of the disks, or less where a quota on / leaves less.
std::string space_text(const Json& space);

// Rows under a header, columns aligned. Numbers are for the caller to format.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stoa::cli
