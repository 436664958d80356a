#include <charconv>
#include <chrono>
#include <ctime>
#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

struct TokenOptions {
  std::string name;
  std::string role;
  std::string directory;
  std::string expires;
};

// A number of days or hours from now, as "90d" and "12h", or a time as the server wants it.
Result<std::string> end_of(const std::string& text) {
  if (text.find('T') != std::string::npos) return text;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc{} || number < 1 || number > 100'000 || (unit != "d" && unit != "h"))
    return fail(Errc::kInvalid, "'" + text + "' is no time; write 90d, 12h or 2026-12-31T23:59:59Z");
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::time_t at =
      std::chrono::system_clock::to_time_t(now + std::chrono::hours(number * (unit == "d" ? 24 : 1)));
  std::tm utc{};
  gmtime_r(&at, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return std::string(stamp);
}

std::string time_or(const Json& value, const char* none) {
  return value.is_null() ? none : value.get<std::string>().substr(0, 19);
}

std::string directory_of(const Json& token) {
  if (token["role"] != "owner") return "-";
  return token["directory"].is_null() ? "(gone)" : printable(bytes_of(token, "directory"));
}

Outcome add(const Session& session, const TokenOptions& options) {
  Json body{{"name", options.name}, {"role", options.role}};
  if (!options.directory.empty()) body["directory"] = options.directory;
  if (!options.expires.empty()) {
    STOA_TRY(end, end_of(options.expires));
    body["expires"] = end;
  }
  STOA_TRY(client, session.connect());
  STOA_TRY(token, client.post("/v1/tokens", body));
  session.print(token, [&] {
    std::printf(
        "name       %s\nrole       %s\ndirectory  %s\nexpires    %s\ntoken      %s\nThe token is shown this once; keep "
        "it in a file of mode 0600.\n",
        token["name"].get<std::string>().c_str(), token["role"].get<std::string>().c_str(), directory_of(token).c_str(),
        time_or(token["expires"], "never").c_str(), token["token"].get<std::string>().c_str());
  });
  return kDone;
}

Outcome list_tokens(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(tokens, client.get_all("/v1/tokens", "tokens"));
  session.print(Json{{"tokens", tokens}}, [&] {
    Table table({"NAME", "ROLE", "DIRECTORY", "CREATED", "EXPIRES", "LAST USED"});
    for (const Json& token : tokens) {
      table.add({token["name"].get<std::string>(), token["role"].get<std::string>(), directory_of(token),
                 time_or(token["created"], ""), time_or(token["expires"], "never"),
                 time_or(token["last_used"], "never")});
    }
    table.print();
  });
  return kDone;
}

Outcome remove(const Session& session, const std::string& name) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/tokens/" + percent_encode(name)));
  static_cast<void>(reply);
  session.print(Json{{"removed", name}}, [&] { std::printf("Token %s is refused from now on.\n", name.c_str()); });
  return kDone;
}

Outcome show(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.get("/v1/session"));
  session.print(reply, [&] {
    std::printf("name       %s\nrole       %s\ndirectory  %s\n", reply["name"].get<std::string>().c_str(),
                reply["role"].get<std::string>().c_str(), directory_of(reply).c_str());
  });
  return kDone;
}

}  // namespace

void add_token_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("token", "Tokens for others to use the admin interface, with a role each");
  group->require_subcommand(1);
  const auto o = std::make_shared<TokenOptions>();

  CLI::App* command = group->add_subcommand("add", "Make a token, and print it once");
  command->add_option("name", o->name, "What the token is called in lists and logs")->required();
  command
      ->add_option("--role", o->role,
                   "admin: everything; operator: all but users, groups, keys, tokens and access control lists; "
                   "auditor: reads everything but "
                   "secrets; owner: quotas, usage and listing in --directory")
      ->required()
      ->check(CLI::IsMember({"admin", "operator", "auditor", "owner"}));
  command->add_option("--directory", o->directory, "The directory of an owner, from the root of the volume")
      ->type_name("PATH");
  command->add_option("--expires", o->expires, "When it ends: 90d, 12h or 2026-12-31T23:59:59Z (default: never)")
      ->type_name("WHEN");
  command->callback([&session, o] { session.command = [&session, o] { return add(session, *o); }; });

  command = group->add_subcommand("list", "List all tokens but that of the data folder");
  command->callback([&session] { session.command = [&session] { return list_tokens(session); }; });

  command = group->add_subcommand("remove", "Refuse a token from now on");
  command->add_option("name", o->name, "The token's name")->required();
  command->callback([&session, o] { session.command = [&session, o] { return remove(session, o->name); }; });

  command = group->add_subcommand("show", "Show name and role of the token that stoa uses here");
  command->callback([&session] { session.command = [&session] { return show(session); }; });
}

}  // namespace stoa::cli
