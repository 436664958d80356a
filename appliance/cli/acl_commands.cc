#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

struct AclOptions {
  std::string path;
  std::string file;
  std::string chmod;
};

Outcome show(const Session& session, const Json& reply) {
  // As it can be given to `set` again.
  session.print(reply, [&] { std::fputs(bytes_of(reply, "acl").c_str(), stdout); });
  return kDone;
}

Outcome get(const Session& session, const AclOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.get("/v1/acl", {{"path", options.path}}));
  return show(session, reply);
}

Result<std::string> read_text(const std::string& file) {
  if (file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::ifstream in(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) return fail(Errc::kInvalid, "the file '" + file + "' cannot be read");
  return text;
}

Outcome set(const Session& session, const AclOptions& options) {
  if (options.file.empty() && options.chmod.empty())
    return fail(Errc::kInvalid, "give a file, - for standard input, or --chmod");
  Json body = Json::object();
  if (!options.file.empty()) {
    STOA_TRY(text, read_text(options.file));
    if (text.find_first_not_of(" \t\r\n") == text.npos) {
      return fail(Errc::kInvalid, "the new list is empty, which would refuse everybody; give at least one entry");
    }
    body["acl"] = text;
  }
  if (!options.chmod.empty()) body["chmod"] = options.chmod;
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.put("/v1/acl", {{"path", options.path}}, body));
  return show(session, reply);
}

}  // namespace

void add_acl_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("acl", "Access control lists of files and directories");
  group->require_subcommand(1);
  const auto o = std::make_shared<AclOptions>();

  CLI::App* command = group->add_subcommand("get", "Show who may do what, one entry a line: TYPE:FLAGS:WHO:RIGHTS");
  command->add_option("path", o->path, "The file or directory, from the root of the volume")->required();
  command->callback([&session, o] { session.command = [&session, o] { return get(session, *o); }; });

  command = group->add_subcommand("set", "Replace the list, as `get` shows it");
  command->add_option("path", o->path, "The file or directory, from the root of the volume")->required();
  command->add_option("file", o->file, "The file with the new list; -: standard input");
  command->add_option("--chmod", o->chmod, "What chmod does to lists in this directory: keep, mask, replace or refuse")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"keep", "mask", "replace", "refuse"}));
  command->callback([&session, o] { session.command = [&session, o] { return set(session, *o); }; });
}

}  // namespace stoa::cli
