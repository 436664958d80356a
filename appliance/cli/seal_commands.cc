// Sealed directories.
#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

Outcome show(const Session& session, const Json& reply) {
  session.print(reply, [&] {
    const std::string path = printable(bytes_of(reply, "path"));
    if (!reply["sealed"].get<bool>()) {
      std::printf("%s is not sealed.\n", path.c_str());
    } else if (reply["own"].get<bool>()) {
      std::printf("%s is sealed.\n", path.c_str());
    } else {
      std::printf("%s is sealed by %s.\n", path.c_str(), printable(bytes_of(reply, "sealed_by")).c_str());
    }
  });
  return kDone;
}

Outcome ask(const Session& session, const std::string& path) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.get("/v1/sealed", {{"path", path}}));
  return show(session, reply);
}

Outcome set(const Session& session, const std::string& path, bool sealed) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.put("/v1/sealed", {{"path", path}}, Json{{"sealed", sealed}}));
  return show(session, reply);
}

}  // namespace

void add_seal_commands(CLI::App& app, Session& session) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("seal", "Make a directory and all below it read-only for everybody");
  command->add_option("path", *path, "The directory")->required();
  command->callback([&session, path] { session.command = [&session, path] { return set(session, *path, true); }; });

  command = app.add_subcommand("unseal", "Allow changes of a sealed directory again");
  command->add_option("path", *path, "The directory")->required();
  command->callback([&session, path] { session.command = [&session, path] { return set(session, *path, false); }; });

  command = app.add_subcommand("sealed", "Show whether a file or directory is sealed, and by which directory");
  command->add_option("path", *path, "The file or directory")->required();
  command->callback([&session, path] { session.command = [&session, path] { return ask(session, *path); }; });
}

}  // namespace stoa::cli
