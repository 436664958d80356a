// stoa watch: changes as they happen.
#include <cstdio>
#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

struct WatchOptions {
  std::string path;
  std::string cursor;
};

struct Event {
  std::string name, id, data;
};

// Splits a stream of server-sent events (WHATWG HTML, 9.2.6); comments are skipped.
class EventReader {
 public:
  explicit EventReader(std::function<void(const Event&)> found) : found_(std::move(found)) {}
  void feed(std::string_view part) {
    buffer_.append(part);
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = buffer_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      line(std::string_view(buffer_).substr(begin, end - begin));
    }
    buffer_.erase(0, begin);
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) {
      if (!event_.data.empty() || !event_.id.empty()) found_(event_);
      event_ = {};
      return;
    }
    const std::size_t colon = text.find(": ");
    if (colon == 0 || colon == std::string_view::npos) return;
    const std::string_view name = text.substr(0, colon);
    std::string value(text.substr(colon + 2));
    if (name == "event") event_.name = std::move(value);
    if (name == "id") event_.id = std::move(value);
    if (name == "data") event_.data = std::move(value);
  }

  std::function<void(const Event&)> found_;
  std::string buffer_;
  Event event_;
};

void print_change(const std::string& name, const Json& change) {
  if (name == "lost") {
    std::printf("%s changes were lost: the journal had dropped them\n", change["count"].dump().c_str());
    return;
  }
  const Json& user = change["user"];
  const std::string who = user["name"].is_string() ? user["name"].get<std::string>() : user["uid"].dump();
  std::string line =
      change.value("time", "") + "  " + change.value("operation", "") + "  " + printable(bytes_of(change, "path"));
  if (change.contains("to_path")) line += " -> " + printable(bytes_of(change, "to_path"));
  line += "  (" + printable(who) + ", " + change.value("protocol", "");
  if (const std::string client = change.value("client", ""); !client.empty()) line += " " + printable(client);
  std::printf("%s)\n", line.c_str());
}

Outcome watch(const Session& session, const WatchOptions& options) {
  STOA_TRY(client, session.connect());
  Query query{{"path", options.path}};
  if (!options.cursor.empty()) query["cursor"] = options.cursor;
  std::string cursor = options.cursor;
  EventReader reader([&](const Event& event) {
    if (!event.id.empty()) cursor = event.id;
    if (event.data.empty()) return;
    Json data = Json::parse(event.data, nullptr, false);
    if (data.is_discarded()) return;
    if (session.json) {
      data["event"] = event.name;
      std::printf("%s\n", data.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    } else if (event.name != "begin") {
      print_change(event.name, data);
    }
    std::fflush(stdout);
  });
  const Status ended = client.follow("/v1/watch", query, [&](std::string_view part) {
    reader.feed(part);
    return true;
  });
  if (!ended && ended.error().code != Errc::kShutdown) return fail(ended.error());
  if (cursor.empty()) return fail(ended ? Error{Errc::kShutdown, 0, "the server ended the stream"} : ended.error());
  return fail(Errc::kShutdown, "the server ended the stream; go on with --cursor " + cursor);
}

}  // namespace

void add_watch_command(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("watch", "Print changes at and below a directory as they happen, until interrupted");
  const auto o = std::make_shared<WatchOptions>();
  command->add_option("path", o->path, "The directory")->required();
  command->add_option("--cursor", o->cursor, "Go on behind this one (printed with --json as \"cursor\")")
      ->type_name("CURSOR");
  command->callback([&session, o] { session.command = [&session, o] { return watch(session, *o); }; });
}

}  // namespace stoa::cli
