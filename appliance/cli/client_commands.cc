#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

std::string number(const Json& value) {
  return std::to_string(value.get<std::int64_t>());
}

Outcome list(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(clients, client.get_all("/v1/clients", "clients"));
  session.print(Json{{"clients", clients}}, [&] {
    Table table({"ID", "PROTOCOL", "ADDRESS", "OPENS", "LOCKS", "DELEGATIONS", "SILENT", "NAME"});
    for (const Json& one : clients) {
      table.add({one["id"].get<std::string>(), one["version"].get<std::string>(), one["address"].get<std::string>(),
                 number(one["opens"]), number(one["locks"]), number(one["leases"]),
                 number(one["silent_seconds"]) + " s", printable(bytes_of(one, "name"))});
    }
    table.print();
  });
  return kDone;
}

Outcome evict(const Session& session, const std::string& id) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/clients/" + percent_encode(id)));
  static_cast<void>(reply);
  session.print(Json{{"evicted", id}}, [&] { std::printf("What client %s had is free.\n", id.c_str()); });
  return kDone;
}

}  // namespace

void add_client_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("client", "Clients that have files open or locked");
  group->require_subcommand(1);
  const auto id = std::make_shared<std::string>();

  CLI::App* command =
      group->add_subcommand("list", "List all clients that the server keeps opens, locks and delegations for");
  command->callback([&session] { session.command = [&session] { return list(session); }; });

  command = group->add_subcommand("evict", "Take away all that a client has open or locked, as when it has died");
  command->add_option("id", *id, "The client's number in the list")->required();
  command->callback([&session, id] { session.command = [&session, id] { return evict(session, *id); }; });
}

}  // namespace stoa::cli
