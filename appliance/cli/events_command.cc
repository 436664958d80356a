#include <poll.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

constexpr int kPeriodMs = 1000;  // between two looks of --follow

struct EventsOptions {
  bool follow = false;
};

std::string line(const Json& event) {
  std::string text = event["time"].get<std::string>() + "  " + event["severity"].get<std::string>() + "  " +
                     event["message"].get<std::string>();
  if (!event["path"].is_null()) text += "  " + bytes_of(event, "path");
  return printable(text);
}

// Followed, each event is an object a line with --json, so that another program can read them as they come.
Outcome events(const Session& session, const EventsOptions& options) {
  STOA_TRY(client, session.connect());
  Query query{};
  for (;;) {
    STOA_TRY(page, client.get("/v1/events", query));
    if (session.json && !options.follow) {
      session.print(page, {});
    } else {
      for (const Json& event : page["events"])
        std::printf("%s\n", session.json ? event.dump(-1, ' ', false, Json::error_handler_t::replace).c_str()
                                         : line(event).c_str());
    }
    if (!options.follow) return kDone;
    query = {{"after", page["next"].get<std::string>()}};
    pollfd reader{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
    if (std::fflush(stdout) != 0 || poll(&reader, 1, kPeriodMs) > 0)
      return kDone;  // the reader of the
                     // output is gone
  }
}

}  // namespace

void add_events_command(CLI::App& app, Session& session) {
  const auto o = std::make_shared<EventsOptions>();
  CLI::App* command = app.add_subcommand(
      "events", "Show what happened lately: soft limits passed and kept again, damage, disks nearly full");
  command->add_flag("--follow", o->follow, "Go on, and show what happens from now on");
  command->callback([&session, o] { session.command = [&session, o] { return events(session, *o); }; });
}

}  // namespace stoa::cli
