#include <charconv>
#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

struct UserOptions {
  std::string name;
  std::string access_key;
  std::string secret_key;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::vector<std::string> groups;
  bool no_groups = false;
  std::optional<std::string> principal;
  std::optional<std::string> sid;
  bool key = false;
};

std::string user_path(const UserOptions& options) {
  return "/v1/users/" + percent_encode(options.name);
}

void fill_key(const UserOptions& options, Json& body) {
  if (!options.access_key.empty()) body["access_key"] = options.access_key;
  if (!options.secret_key.empty()) body["secret_key"] = options.secret_key;
}

// A number, or the name of a group, which is looked up once at the daemon.
Result<std::uint32_t> group_number(AdminClient& client, const std::string& text, Json& known) {
  std::uint32_t gid = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, gid);
  if (error == std::errc{} && end == last) return gid;
  if (known.is_null()) {
    STOA_TRY(groups, client.get_all("/v1/groups", "groups"));
    known = std::move(groups);
  }
  for (const Json& group : known) {
    if (group["name"] == text) return group["gid"].get<std::uint32_t>();
  }
  return fail(Errc::kNotFound,
              "there is no group named '" + text + "'; give a number, or make it with stoa group create");
}

Status fill_identity(const UserOptions& options, AdminClient& client, Json& body) {
  if (options.uid) body["uid"] = *options.uid;
  if (options.gid) body["gid"] = *options.gid;
  if (options.principal) body["principal"] = *options.principal;
  if (options.sid) body["sid"] = *options.sid;
  if (options.no_groups || !options.groups.empty()) body["groups"] = Json::array();
  Json known;
  for (const std::string& text : options.groups) {
    STOA_TRY(gid, group_number(client, text, known));
    body["groups"].push_back(gid);
  }
  return {};
}

std::string group_text(const Json& user) {
  std::string out;
  for (const Json& group : user["groups"])
    out.append(out.empty() ? "" : ",").append(std::to_string(group.get<std::uint32_t>()));
  return out;
}

void print_key(const Json& key) {
  std::printf("access key  %s\nsecret key  %s\n", key["access_key"].get<std::string>().c_str(),
              key["secret_key"].get<std::string>().c_str());
}

void print_user(const Json& user) {
  std::printf("name       %s\nuid        %u\ngid        %u\ngroups     %s\nprincipal  %s\nsid        %s\n",
              user["name"].get<std::string>().c_str(), user["uid"].get<std::uint32_t>(),
              user["gid"].get<std::uint32_t>(), group_text(user).c_str(), user["principal"].get<std::string>().c_str(),
              user["sid"].get<std::string>().c_str());
  for (const Json& key : user["keys"]) {
    std::printf("key        %s%s\n", key["access_key"].get<std::string>().c_str(),
                key["enabled"].get<bool>() ? "" : " (disabled)");
  }
}

Outcome create(const Session& session, const UserOptions& options) {
  Json body{{"name", options.name}};
  STOA_TRY(client, session.connect());
  STOA_CHECK_OK(fill_identity(options, client, body));
  if (options.key || !options.access_key.empty() || !options.secret_key.empty()) {
    body["create_key"] = true;
    fill_key(options, body);
  }
  STOA_TRY(user, client.post("/v1/users", body));
  session.print(user, [&] {
    print_user(user);
    if (user.contains("key")) print_key(user["key"]);
  });
  return kDone;
}

Outcome list_users(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(users, client.get_all("/v1/users", "users"));
  session.print(Json{{"users", users}}, [&] {
    Table table({"NAME", "UID", "GID", "GROUPS", "PRINCIPAL", "KEYS"});
    for (const Json& user : users) {
      table.add({user["name"].get<std::string>(), std::to_string(user["uid"].get<std::uint32_t>()),
                 std::to_string(user["gid"].get<std::uint32_t>()), group_text(user),
                 user["principal"].get<std::string>(), std::to_string(user["keys"].size())});
    }
    table.print();
  });
  return kDone;
}

Outcome show(const Session& session, const UserOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(user, client.get(user_path(options)));
  session.print(user, [&] { print_user(user); });
  return kDone;
}

Outcome set(const Session& session, const UserOptions& options) {
  Json body = Json::object();
  STOA_TRY(client, session.connect());
  STOA_CHECK_OK(fill_identity(options, client, body));
  if (body.empty()) return fail(Errc::kInvalid, "nothing to change; see stoa user set --help");
  STOA_TRY(user, client.patch(user_path(options), body));
  session.print(user, [&] { print_user(user); });
  return kDone;
}

Outcome remove(const Session& session, const UserOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove(user_path(options)));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.name}},
                [&] { std::printf("User %s is removed; files keep their uid.\n", options.name.c_str()); });
  return kDone;
}

Outcome key_add(const Session& session, const UserOptions& options) {
  Json body = Json::object();
  fill_key(options, body);
  STOA_TRY(client, session.connect());
  STOA_TRY(key, client.post(user_path(options) + "/keys", body));
  session.print(key, [&] { print_key(key); });
  return kDone;
}

Outcome key_list(const Session& session, const UserOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.get(user_path(options) + "/keys"));
  session.print(reply, [&] {
    Table table({"ACCESS KEY", "SECRET KEY", "STATE"});
    for (const Json& key : reply["keys"]) {
      table.add({key["access_key"].get<std::string>(), key["secret_key"].get<std::string>(),
                 key["enabled"].get<bool>() ? "enabled" : "disabled"});
    }
    table.print();
  });
  return kDone;
}

Outcome key_remove(const Session& session, const UserOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove(user_path(options) + "/keys/" + percent_encode(options.access_key)));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.access_key}},
                [&] { std::printf("Key %s is removed.\n", options.access_key.c_str()); });
  return kDone;
}

Outcome key_enable(const Session& session, const UserOptions& options, bool enabled) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.patch(user_path(options) + "/keys/" + percent_encode(options.access_key),
                               Json{{"enabled", enabled}}));
  session.print(reply,
                [&] { std::printf("Key %s is %s.\n", options.access_key.c_str(), enabled ? "enabled" : "disabled"); });
  return kDone;
}

void add_identity_options(CLI::App* command, const std::shared_ptr<UserOptions>& o) {
  command->add_option("--uid", o->uid, "The user's number (default for a new user: the first free one from 1000)")
      ->type_name("UID");
  command->add_option("--gid", o->gid, "The number of the user's group (default for a new user: the uid)")
      ->type_name("GID");
  command
      ->add_option("--group", o->groups, "A further group, by number or name; may be repeated; for NFS also beyond 16")
      ->type_name("GROUP")
      ->delimiter(',');
  command->add_flag("--no-groups", o->no_groups, "No further groups")->excludes("--group");
  command
      ->add_option("--principal", o->principal,
                   "The user's Kerberos principal (default: its name in the realm of the server); \"\" for the default")
      ->type_name("NAME@REALM");
  command
      ->add_option("--sid", o->sid,
                   "The user's SID, instead of an automatic one in the volume's domain; \"\" for the default")
      ->type_name("SID");
}

void add_key_options(CLI::App* command, const std::shared_ptr<UserOptions>& o) {
  command->add_option("--access-key", o->access_key, "Use this access key instead of a fresh one; needs --secret-key")
      ->type_name("KEY");
  command
      ->add_option("--secret-key", o->secret_key,
                   "The secret of --access-key; other users of this machine can see it in the list of processes")
      ->type_name("SECRET");
}

void add_key_commands(CLI::App* group, Session& session, const std::shared_ptr<UserOptions>& o) {
  CLI::App* keys = group->add_subcommand("key", "The S3 keys of a user");
  keys->require_subcommand(1);
  const auto name = [&](CLI::App* command) { command->add_option("name", o->name, "The user's name")->required(); };
  const auto access = [&](CLI::App* command) {
    command->add_option("access_key", o->access_key, "The access key")->required();
  };

  CLI::App* command = keys->add_subcommand("add", "Give a user another key pair");
  name(command);
  add_key_options(command, o);
  command->callback([&session, o] { session.command = [&session, o] { return key_add(session, *o); }; });

  command = keys->add_subcommand("list", "List a user's keys with their secrets");
  name(command);
  command->callback([&session, o] { session.command = [&session, o] { return key_list(session, *o); }; });

  command = keys->add_subcommand("remove", "Remove a key");
  name(command);
  access(command);
  command->callback([&session, o] { session.command = [&session, o] { return key_remove(session, *o); }; });

  command = keys->add_subcommand("disable", "Refuse requests signed with a key, until it is enabled again");
  name(command);
  access(command);
  command->callback([&session, o] { session.command = [&session, o] { return key_enable(session, *o, false); }; });

  command = keys->add_subcommand("enable", "Accept a disabled key again");
  name(command);
  access(command);
  command->callback([&session, o] { session.command = [&session, o] { return key_enable(session, *o, true); }; });
}

}  // namespace

void add_user_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("user", "Users, their identities and their S3 keys");
  group->require_subcommand(1);
  const auto o = std::make_shared<UserOptions>();

  CLI::App* command = group->add_subcommand("create", "Make a user");
  command->add_option("name", o->name, "The user's name")->required();
  add_identity_options(command, o);
  command->add_flag("--key", o->key, "Make a key pair for S3 as well, and print it");
  add_key_options(command, o);
  command->callback([&session, o] { session.command = [&session, o] { return create(session, *o); }; });

  command = group->add_subcommand("list", "List all users");
  command->callback([&session] { session.command = [&session] { return list_users(session); }; });

  command = group->add_subcommand("show", "Show one user");
  command->add_option("name", o->name, "The user's name")->required();
  command->callback([&session, o] { session.command = [&session, o] { return show(session, *o); }; });

  command = group->add_subcommand("set", "Change a user's identities and groups");
  command->add_option("name", o->name, "The user's name")->required();
  add_identity_options(command, o);
  command->callback([&session, o] { session.command = [&session, o] { return set(session, *o); }; });

  command = group->add_subcommand("remove", "Remove a user; files keep their uid");
  command->add_option("name", o->name, "The user's name")->required();
  command->callback([&session, o] { session.command = [&session, o] { return remove(session, *o); }; });

  add_key_commands(group, session, o);
}

}  // namespace stoa::cli
