#include <cstdio>
#include <string>
#include <string_view>

#include "appliance/cli/session.h"
#include "appliance/cli/terminal_error.h"
#include "base/log.h"

namespace {

// The error of a line with no command where one must be, or with an unknown one; CLI11 reports only that one is
// missing.
std::string missing_command(const CLI::App& app) {
  const CLI::App* group = &app;
  std::string line = "stoa";
  while (!group->get_subcommands().empty()) {
    group = group->get_subcommands().front();
    line += ' ' + group->get_name();
  }
  const auto commands = group->get_subcommands([](const CLI::App*) { return true; });
  if (commands.empty()) return {};
  std::string text = "stoa: ";
  if (const auto rest = app.remaining(true); !rest.empty()) {
    text += "there is no command '" + line + ' ' + rest.front() + "'";
  } else {
    text += "'" + line + "' needs a command";
  }
  text += "; there are:";
  for (const CLI::App* command : commands) text += ' ' + command->get_name();
  return text + "\nSee " + line + " --help\n";
}

int run(int argc, char** argv) {
  CLI::App app;
  stoa::cli::Session session;
  if (std::string_view(argv[0]).ends_with("mount.stoa")) {  // mount(8) calls it by this name
    app.description("mount.stoa: what mount -t stoa runs, see stoa mount --help");
    stoa::cli::add_mount_helper(app, session);
  } else {
    stoa::cli::build_app(app, session);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const std::string text = missing_command(app);
    if (text.empty()) return app.exit(error), stoa::cli::kUsage;
    std::fputs(text.c_str(), stderr);
    return stoa::cli::kUsage;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? stoa::cli::kDone : stoa::cli::kUsage;
  }
  // Messages of the core while it opens a data folder are for the log of a server.
  stoa::set_log_level(stoa::LogLevel::kError);
  const stoa::cli::Outcome outcome = session.command();
  if (outcome) return *outcome;
  const stoa::Error& error = outcome.error();
  stoa::cli::complain("stoa", error, session.connected);
  return error.code == stoa::Errc::kInvalid && !session.connected ? stoa::cli::kUsage
                                                                  : stoa::cli::exit_code(error.code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // CLI11 and the JSON library throw; a message beats a core dump.
    std::fprintf(stderr, "stoa: unexpected: %s\n", error.what());
    return stoa::cli::kRefused;
  }
}
