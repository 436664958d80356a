#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

Outcome create_host_key(const Session& session, const std::string& name) {
  STOA_TRY(client, session.connect());
  STOA_TRY(key, client.post("/v1/host-keys", Json{{"name", name}}));
  session.print(key, [&] {
    std::printf("# The key of %s. The secret is shown this once; keep this in a file of mode 0600.\nhost %s %s\n",
                name.c_str(), key["key"].get<std::string>().c_str(), key["secret"].get<std::string>().c_str());
  });
  return kDone;
}

Outcome list_host_keys(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(keys, client.get_all("/v1/host-keys", "host_keys"));
  session.print(Json{{"host_keys", keys}}, [&] {
    Table table({"NAME", "KEY", "CREATED"});
    for (const Json& key : keys) {
      table.add({key["name"].get<std::string>(), key["key"].get<std::string>(),
                 key["created"].get<std::string>().substr(0, 19)});
    }
    table.print();
  });
  return kDone;
}

Outcome remove_host_key(const Session& session, const std::string& name) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/host-keys/" + percent_encode(name)));
  static_cast<void>(reply);
  session.print(Json{{"removed", name}}, [&] { std::printf("The key of %s opens nothing more.\n", name.c_str()); });
  return kDone;
}

}  // namespace

void add_host_commands(CLI::App& app, Session& session) {
  CLI::App* host = app.add_subcommand("host", "Hosts that use the native protocol");
  host->require_subcommand(1);
  CLI::App* group = host->add_subcommand("key", "Keys of hosts, which say for whom they ask");
  group->require_subcommand(1);
  const auto name = std::make_shared<std::string>();

  CLI::App* command = group->add_subcommand("create", "Make a key, and print it once, as a key file");
  command->add_option("name", *name, "What the host is called in lists and logs")->required();
  command->callback(
      [&session, name] { session.command = [&session, name] { return create_host_key(session, *name); }; });

  command = group->add_subcommand("list", "List all keys, without their secrets");
  command->callback([&session] { session.command = [&session] { return list_host_keys(session); }; });

  command = group->add_subcommand("remove", "Refuse a key from now on");
  command->add_option("name", *name, "The host's name")->required();
  command->callback(
      [&session, name] { session.command = [&session, name] { return remove_host_key(session, *name); }; });
}

}  // namespace stoa::cli
