#include <charconv>
#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

struct ExportOptions {
  std::string name;
  std::string path;
  std::string new_name;
  std::optional<std::string> owner;
  std::string mode;
  std::vector<std::string> protocols;
  std::vector<std::string> clients;
  std::vector<std::string> security;
  std::string native_tls;
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<bool> read_only;
  bool native = false;
  bool create = false;
};

Result<std::uint32_t> parse_id(std::string_view text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    return fail(Errc::kInvalid, "'" + std::string(text) + "' is not an id");
  return id;
}

// "10.0.0.0/8,ro,squash=all,anonuid=1000": options as in exports(5).
Result<Json> parse_client(std::string_view text) {
  Json rule{{"network", std::string(text.substr(0, text.find(',')))}};
  std::string_view rest = text.substr(std::min(text.size(), text.find(',')));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(word.size());
    const std::string_view value = word.substr(std::min(word.size(), word.find('=') + 1));
    if (word == "ro" || word == "rw") {
      rule["read_only"] = word == "ro";
    } else if (word.starts_with("squash=")) {
      rule["squash"] = std::string(value);
    } else if (word.starts_with("anonuid=") || word.starts_with("anongid=")) {
      STOA_TRY(id, parse_id(value));
      rule[word.starts_with("anonuid") ? "anonymous_uid" : "anonymous_gid"] = id;
    } else {
      return fail(Errc::kInvalid, "client '" + std::string(text) + "': there is no option '" + std::string(word) +
                                      "'; the options are ro, rw, squash=none|root|all, anonuid=N and anongid=N");
    }
  }
  return rule;
}

Status fill_rules(const ExportOptions& options, Json& body) {
  if (!options.protocols.empty()) body["protocols"] = options.protocols;
  if (options.owner) body["owner"] = *options.owner;
  if (!options.security.empty()) {
    body["security"] =
        options.security == std::vector<std::string>{"default"} ? std::vector<std::string>{} : options.security;
  }
  if (!options.native_tls.empty()) body["native_tls"] = options.native_tls;
  if (options.read_only) body["read_only"] = *options.read_only;
  if (!options.clients.empty()) {
    body["clients"] = Json::array();
    for (const std::string& text : options.clients) {
      STOA_TRY(rule, parse_client(text));
      body["clients"].push_back(rule);
    }
  }
  return {};
}

std::string join(const Json& list, const char* between) {
  std::string out;
  for (const Json& item : list) out.append(out.empty() ? "" : between).append(item.get<std::string>());
  return out;
}

}  // namespace

std::string client_rule_text(const Json& rule) {
  std::string text = rule["network"].get<std::string>() + (rule["read_only"].get<bool>() ? ",ro" : ",rw");
  text += ",squash=" + rule["squash"].get<std::string>();
  if (rule["squash"] != "none") {
    text += ",anonuid=" + std::to_string(rule["anonymous_uid"].get<std::uint32_t>());
    text += ",anongid=" + std::to_string(rule["anonymous_gid"].get<std::uint32_t>());
  }
  return text;
}

namespace {

void print_export(const Json& e) {
  std::printf("name       %s\npath       %s\nprotocols  %s\nread-only  %s\nowner      %s\ncreated    %s\n",
              printable(bytes_of(e, "name")).c_str(), printable(bytes_of(e, "path")).c_str(),
              join(e["protocols"], ", ").c_str(), e["read_only"].get<bool>() ? "yes" : "no",
              e["owner"].get<std::string>().c_str(), e["created"].get<std::string>().c_str());
  std::printf("security   %s\n", e["security"].empty() ? "default" : join(e["security"], ", ").c_str());
  std::printf("native-tls %s\n", e["native_tls"].get<std::string>().c_str());
  for (const Json& rule : e["clients"]) std::printf("client     %s\n", client_rule_text(rule).c_str());
}

Outcome create(const Session& session, const ExportOptions& options) {
  Json body{{"name", options.name}, {"create_directory", options.create}};
  if (!options.path.empty()) body["path"] = options.path;
  if (!options.mode.empty()) {
    unsigned mode = 0;
    const char* const last = options.mode.data() + options.mode.size();
    const auto [end, error] = std::from_chars(options.mode.data(), last, mode, 8);
    if (error != std::errc{} || end != last || mode > 07777)
      return fail(Errc::kInvalid, "'" + options.mode + "' is not an octal mode such as 0755");
    body["mode"] = mode;
  }
  if (options.uid) body["uid"] = *options.uid;
  if (options.gid) body["gid"] = *options.gid;
  STOA_CHECK_OK(fill_rules(options, body));
  STOA_TRY(client, session.connect());
  STOA_TRY(made, client.post("/v1/exports", body));
  session.print(made, [&] { print_export(made); });
  return kDone;
}

Outcome list_exports(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(exports, client.get_all("/v1/exports", "exports"));
  session.print(Json{{"exports", exports}}, [&] {
    Table table({"NAME", "PATH", "PROTOCOLS", "ACCESS", "OWNER", "CLIENTS"});
    for (const Json& e : exports) {
      std::string clients;
      for (const Json& rule : e["clients"]) clients.append(clients.empty() ? "" : " ").append(client_rule_text(rule));
      table.add({printable(bytes_of(e, "name")), printable(bytes_of(e, "path")), join(e["protocols"], ","),
                 e["read_only"].get<bool>() ? "ro" : "rw", e["owner"].get<std::string>(), clients});
    }
    table.print();
  });
  return kDone;
}

Outcome show(const Session& session, const ExportOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.get("/v1/exports/" + percent_encode(options.name)));
  session.print(reply, [&] { print_export(reply); });
  return kDone;
}

Outcome set(const Session& session, const ExportOptions& options) {
  Json body = Json::object();
  if (!options.new_name.empty()) body["name"] = options.new_name;
  STOA_CHECK_OK(fill_rules(options, body));
  if (body.empty()) return fail(Errc::kInvalid, "nothing to change; see stoa export set --help");
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.patch("/v1/exports/" + percent_encode(options.name), body));
  session.print(reply, [&] { print_export(reply); });
  return kDone;
}

Outcome remove(const Session& session, const ExportOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/exports/" + percent_encode(options.name)));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.name}},
                [&] { std::printf("Export %s is no longer published; its directory stays.\n", options.name.c_str()); });
  return kDone;
}

void add_rule_options(CLI::App* command, const std::shared_ptr<ExportOptions>& o) {
  command->add_option("--protocol", o->protocols, "A protocol to publish it through: nfs, s3, native; may be repeated")
      ->type_name("PROTOCOL")
      ->delimiter(',')
      ->check(CLI::IsMember({"nfs", "s3", "native"}));
  command
      ->add_option(
          "--client", o->clients,
          "Who may use it, through every protocol: NETWORK[,ro|rw][,squash=none|root|all][,anonuid=N][,anongid=N]; "
          "may be repeated, the first match counts; * is everyone. Squashing is for NFS")
      ->type_name("RULE");
  command
      ->add_option(
          "--sec", o->security,
          "How NFS clients must show who calls, the best first: sys, krb5, krb5i, krb5p; default: all that the server "
          "has, which is sys, and with a keytab the others, too. Native clients may log in by Kerberos with krb5, and "
          "with "
          "krb5i or krb5p over TLS; their keys are always taken")
      ->type_name("FLAVOR")
      ->delimiter(',')
      ->check(CLI::IsMember({"sys", "krb5", "krb5i", "krb5p", "default"}));
  command
      ->add_option("--native-tls", o->native_tls,
                   "Whether native clients must come with TLS: offered or required, which needs native.tls_certificate")
      ->type_name("HOW")
      ->check(CLI::IsMember({"offered", "required"}));
  command->add_option("--owner", o->owner, "The user who owns the bucket; \"\": nobody")->type_name("USER");
  // Callbacks, because CLI11 would make an optional flag that is not given false instead of leaving it away.
  CLI::Option* const read_only = command->add_flag_callback(
      "--read-only", [o] { o->read_only = true; }, "Refuse all changes, through every protocol");
  command
      ->add_flag_callback(
          "--read-write", [o] { o->read_only = false; }, "Allow changes again, as far as the client rules do")
      ->excludes(read_only);
}

}  // namespace

void add_export_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("export", "Publish directories through NFS, S3 and the native protocol");
  group->require_subcommand(1);
  const auto o = std::make_shared<ExportOptions>();

  CLI::App* command = group->add_subcommand("create", "Publish a directory");
  command->add_option("name", o->name, "Its name: the NFS path /NAME and the S3 bucket")->required();
  command->add_option("--path", o->path, "The directory in the volume (default: /NAME)")->type_name("PATH");
  command->add_flag("--create", o->create, "Make the directory when it is missing");
  command->add_flag("--native", o->native, "Publish it through the native protocol, too, as for `stoa mount`");
  command->add_option("--mode", o->mode, "The mode of a directory that is made (default: 0755)")->type_name("OCTAL");
  command->add_option("--uid", o->uid, "The owner of a directory that is made (default: that of --owner, or 0)")
      ->type_name("UID");
  command->add_option("--gid", o->gid, "The group of a directory that is made")->type_name("GID");
  add_rule_options(command, o);
  command->callback([&session, o] {
    if (o->protocols.empty()) o->protocols = {"nfs", "s3"};
    if (o->native) o->protocols.emplace_back("native");
    session.command = [&session, o] { return create(session, *o); };
  });

  command = group->add_subcommand("list", "List all exports");
  command->callback([&session] { session.command = [&session] { return list_exports(session); }; });

  command = group->add_subcommand("show", "Show one export");
  command->add_option("name", o->name, "Its name")->required();
  command->callback([&session, o] { session.command = [&session, o] { return show(session, *o); }; });

  command = group->add_subcommand("set", "Change an export");
  command->add_option("name", o->name, "Its name")->required();
  command->add_option("--rename", o->new_name, "A new name; NFS clients keep what they have mounted")
      ->type_name("NAME");
  add_rule_options(command, o);
  command->callback([&session, o] { session.command = [&session, o] { return set(session, *o); }; });

  command = group->add_subcommand("remove", "Withdraw an export; the directory and its files stay");
  command->add_option("name", o->name, "Its name")->required();
  command->callback([&session, o] { session.command = [&session, o] { return remove(session, *o); }; });
}

}  // namespace stoa::cli
