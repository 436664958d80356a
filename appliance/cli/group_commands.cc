#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

struct GroupOptions {
  std::string name;
  std::string sid;
  std::optional<std::uint32_t> gid;
};

Outcome create(const Session& session, const GroupOptions& options) {
  Json body{{"name", options.name}};
  if (options.gid) body["gid"] = *options.gid;
  if (!options.sid.empty()) body["sid"] = options.sid;
  STOA_TRY(client, session.connect());
  STOA_TRY(group, client.post("/v1/groups", body));
  session.print(group, [&] {
    std::printf("name  %s\ngid   %u\nsid   %s\n", group["name"].get<std::string>().c_str(),
                group["gid"].get<std::uint32_t>(), group["sid"].get<std::string>().c_str());
  });
  return kDone;
}

Outcome list_groups(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(groups, client.get_all("/v1/groups", "groups"));
  session.print(Json{{"groups", groups}}, [&] {
    Table table({"NAME", "GID", "SID"});
    for (const Json& group : groups) {
      table.add({group["name"].get<std::string>(), std::to_string(group["gid"].get<std::uint32_t>()),
                 group["sid"].get<std::string>()});
    }
    table.print();
  });
  return kDone;
}

Outcome remove(const Session& session, const GroupOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/groups/" + percent_encode(options.name)));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.name}}, [&] {
    std::printf("Group %s has no name any more; users and files keep its number.\n", options.name.c_str());
  });
  return kDone;
}

}  // namespace

void add_group_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("group", "Names of groups");
  group->require_subcommand(1);
  const auto o = std::make_shared<GroupOptions>();

  CLI::App* command = group->add_subcommand("create", "Give a group a name");
  command->add_option("name", o->name, "The group's name")->required();
  command->add_option("--gid", o->gid, "The group's number (default: the first free one from 1000)")->type_name("GID");
  command->add_option("--sid", o->sid, "The group's SID, instead of an automatic one in the volume's domain")
      ->type_name("SID");
  command->callback([&session, o] { session.command = [&session, o] { return create(session, *o); }; });

  command = group->add_subcommand("list", "List all groups that have a name");
  command->callback([&session] { session.command = [&session] { return list_groups(session); }; });

  command = group->add_subcommand("remove", "Take the name from a group; users and files keep its number");
  command->add_option("name", o->name, "The group's name")->required();
  command->callback([&session, o] { session.command = [&session, o] { return remove(session, *o); }; });
}

}  // namespace stoa::cli
