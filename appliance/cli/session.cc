#include "appliance/cli/session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "appliance/config/byte_size.h"
#include "appliance/config/config_file.h"
#include "appliance/data_folder/folder_lock.h"
#include "appliance/data_folder/run_record.h"
#include "appliance/data_folder/secret_file.h"

namespace stoa::cli {
namespace {

constexpr const char* kSystemConfig = "/etc/stoa/stoad.toml";

std::string base64_decoded(std::string_view text) {
  std::string out;
  unsigned word = 0;
  int bits = 0;
  for (const char c : text) {
    const unsigned value = c >= 'A' && c <= 'Z'   ? static_cast<unsigned>(c - 'A')
                           : c >= 'a' && c <= 'z' ? static_cast<unsigned>(c - 'a') + 26
                           : c >= '0' && c <= '9' ? static_cast<unsigned>(c - '0') + 52
                           : c == '+'             ? 62
                           : c == '/'             ? 63
                                                  : 64;
    if (value == 64) break;
    word = (word << 6 | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(word >> bits);
    }
  }
  return out;
}

}  // namespace

Result<appliance::DataFolder> Session::data_folder() const {
  if (!data.empty()) return appliance::DataFolder{data};
  const char* environment = std::getenv("STOA_DATA");
  if (config.empty() && environment != nullptr && environment[0] != 0) return appliance::DataFolder{environment};
  appliance::Config read;
  if (!config.empty()) {
    STOA_CHECK_OK(appliance::read_config_file(config, read));
  } else if (access(kSystemConfig, R_OK) == 0) {
    STOA_CHECK_OK(appliance::read_config_file(kSystemConfig, read));
  }
  return appliance::DataFolder{read.data.empty() ? appliance::default_data_path() : read.data};
}

Result<AdminClient> Session::connect() const {
  AdminAddress address;
  if (!token_file.empty()) {
    STOA_TRY(text, appliance::read_secret_file(token_file));
    address.token = text.substr(0, text.find_last_not_of(" \n") + 1);
  } else if (const char* environment = std::getenv("STOA_TOKEN"); environment != nullptr) {
    address.token = environment;
  }
  address.ca = ca;
  address.pin = pin;
  if (server.empty()) {
    STOA_TRY(folder, data_folder());
    STOA_TRY(holder, appliance::lock_holder(folder));
    if (!holder) {
      return fail(Errc::kShutdown, "no stoad is running for the data folder " + folder.path +
                                       "; start it (stoad --data " + folder.path +
                                       "), or name another folder with --data");
    }
    STOA_TRY(run, appliance::read_run_record(folder));
    address.url = run.admin_url;
    address.socket = run.admin_socket;
    if (address.pin.empty() && address.ca.empty()) address.pin = run.admin_pin;
    if (!address.socket.empty() && access(address.socket.c_str(), W_OK) != 0 && !address.url.empty())
      address.socket.clear();
    if (!address.socket.empty()) address.url.clear();  // may use TLS; the socket never does
    if (address.token.empty()) {
      STOA_TRY(token, appliance::load_token(folder));
      address.token = token;
    }
  } else {
    address.url = server;
    while (address.url.ends_with('/')) address.url.pop_back();
    if (address.token.empty()) {
      STOA_TRY(folder, data_folder());
      STOA_TRY(token, appliance::load_token(folder));
      address.token = token;
    }
  }
  connected = true;
  return AdminClient(std::move(address));
}

void Session::print(const Json& value, const std::function<void()>& people) const {
  if (json) {
    std::printf("%s\n", value.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    people();
  }
}

std::string bytes_of(const Json& object, const std::string& member) {
  if (const auto it = object.find(member + "_base64"); it != object.end() && it->is_string()) {
    return base64_decoded(it->get<std::string>());
  }
  return object.value(member, "");
}

std::string space_text(const Json& space) {
  const auto text = [&](const char* member) { return appliance::round_bytes(space[member].get<std::uint64_t>()); };
  const std::string disks = text("free") + " free of " + text("total");
  return space["available"] == space["free"] ? disks : disks + "; the quota of / leaves " + text("available");
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u != 0x7f) {
      out += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", u);
    out += escaped;
  }
  return out;
}

void Table::print() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    std::printf("%s\n", line.c_str());
  }
}

void build_app(CLI::App& app, Session& session) {
  app.name("stoa");
  app.description("Controls a Stoa storage server.");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_help_all_flag("--help-all", "Print the help of all commands and exit");
  app.add_flag("--json", session.json, "Print JSON, for scripts");
  app.add_option("--data", session.data,
                 "The data folder (default: $STOA_DATA, or that of the configuration, or the user's XDG data folder)")
      ->type_name("DIR");
  app.add_option("--config", session.config,
                 "The configuration file that names the data folder (default: /etc/stoa/stoad.toml)")
      ->type_name("FILE");
  app.add_option("--server", session.server, "The admin interface to talk to, instead of that of the data folder")
      ->type_name("URL");
  app.add_option("--token-file", session.token_file,
                 "The file with the token (default: $STOA_TOKEN, or admin.token in the data folder)")
      ->type_name("FILE");
  app.add_option("--ca", session.ca,
                 "A PEM file with the authorities that vouch for an https:// server (default: those of the system)")
      ->type_name("FILE");
  app.add_option("--pin", session.pin,
                 "Trust the https:// server that has this public key, sha256//BASE64; its log tells it at each start")
      ->type_name("KEY");
  add_volume_commands(app, session);
  add_export_commands(app, session);
  add_user_commands(app, session);
  add_group_commands(app, session);
  add_client_commands(app, session);
  add_host_commands(app, session);
  add_token_commands(app, session);
  add_quota_commands(app, session);
  add_qos_commands(app, session);
  add_recycle_commands(app, session);
  add_seal_commands(app, session);
  add_audit_commands(app, session);
  add_watch_command(app, session);
  add_mount_commands(app, session);
  add_stats_command(app, session);
  add_explain_command(app, session);
  add_events_command(app, session);
  add_acl_commands(app, session);
  add_tree_commands(app, session);
  add_status_commands(app, session);
}

}  // namespace stoa::cli
