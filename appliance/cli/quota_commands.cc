#include <charconv>
#include <memory>

#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"

namespace stoa::cli {
namespace {

struct Options {
  std::string path;
  std::string bytes;
  std::string files;
};

std::string of_limit(std::int64_t used, const Json& limit, bool bytes) {
  const auto show = [bytes](std::uint64_t n) { return bytes ? appliance::round_bytes(n) : std::to_string(n); };
  std::string text = show(static_cast<std::uint64_t>(used));
  if (limit.is_null()) return text + " of any";
  const auto most = limit.get<std::uint64_t>();
  text += " of " + show(most);
  if (most > 0)
    text += " (" +
            std::to_string(static_cast<std::uint64_t>(static_cast<double>(used) * 100 / static_cast<double>(most))) +
            " %)";
  return text;
}

std::vector<std::string> quota_row(const Json& quota) {
  const Json& usage = quota["usage"];
  const std::int64_t objects = usage["files"].get<std::int64_t>() + usage["directories"].get<std::int64_t>();
  return {of_limit(usage["bytes"].get<std::int64_t>(), quota["limits"]["bytes"], true),
          of_limit(objects, quota["limits"]["files"], false), printable(bytes_of(quota, "path"))};
}

void print_quotas(const std::vector<Json>& quotas) {
  Table table({"BYTES", "FILES AND DIRECTORIES", "PATH"});
  for (const Json& quota : quotas) table.add(quota_row(quota));
  table.print();
}

// "10GiB" or "none".
Result<Json> parse_limit(const std::string& text, bool bytes) {
  if (text == "none") return Json();
  if (bytes) {
    STOA_TRY(size, appliance::parse_bytes(text));
    return Json(size);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    return fail(Errc::kInvalid, "'" + text + "' is not a number of files");
  return Json(number);
}

Outcome set(const Session& session, const Options& options) {
  if (options.bytes.empty() && options.files.empty()) return fail(Errc::kInvalid, "give --bytes, --files or both");
  STOA_TRY(client, session.connect());
  const Query query{{"path", options.path}};
  // What is not mentioned stays as it is.
  STOA_TRY(before, client.get("/v1/quota", query));
  Json body = before["limits"];
  if (!options.bytes.empty()) {
    STOA_TRY(limit, parse_limit(options.bytes, true));
    body["bytes"] = limit;
  }
  if (!options.files.empty()) {
    STOA_TRY(limit, parse_limit(options.files, false));
    body["files"] = limit;
  }
  STOA_TRY(quota, client.put("/v1/quota", query, body));
  session.print(quota, [&] { print_quotas({quota}); });
  return kDone;
}

Outcome get(const Session& session, const Options& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(quota, client.get("/v1/quota", {{"path", options.path}}));
  session.print(quota, [&] { print_quotas({quota}); });
  return kDone;
}

Outcome list(const Session& session) {
  STOA_TRY(client, session.connect());
  std::vector<Json> quotas;
  Query query;
  for (;;) {
    STOA_TRY(page, client.get("/v1/quotas", query));
    for (const Json& quota : page["quotas"]) quotas.push_back(quota);
    if (!page["truncated"].get<bool>() || !page.contains("next_after")) break;
    query["after"] = page["next_after"].get<std::string>();
  }
  session.print(Json{{"quotas", quotas}}, [&] { print_quotas(quotas); });
  return kDone;
}

Outcome remove(const Session& session, const Options& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/quota", {{"path", options.path}}));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.path}},
                [&] { std::printf("The quota of %s is removed.\n", printable(options.path).c_str()); });
  return kDone;
}

}  // namespace

void add_quota_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("quota", "Hard limits on directories");
  group->require_subcommand(1);
  const auto o = std::make_shared<Options>();
  const auto path = [&](CLI::App* command) {
    command->add_option("path", o->path, "The directory, from the root of the volume")->required();
  };

  CLI::App* command = group->add_subcommand("set", "Limit all that is below a directory");
  path(command);
  command->add_option("--bytes", o->bytes, "Bytes of content, such as 10GiB; none: no limit")->type_name("SIZE");
  command->add_option("--files", o->files, "Files and directories together; none: no limit")->type_name("NUMBER");
  command->callback([&session, o] { session.command = [&session, o] { return set(session, *o); }; });

  command = group->add_subcommand("get", "Show limits and usage of a directory");
  path(command);
  command->callback([&session, o] { session.command = [&session, o] { return get(session, *o); }; });

  command = group->add_subcommand("list", "List all directories with a quota");
  command->callback([&session] { session.command = [&session] { return list(session); }; });

  command = group->add_subcommand("remove", "Take the limits of a directory away");
  path(command);
  command->callback([&session, o] { session.command = [&session, o] { return remove(session, *o); }; });
}

}  // namespace stoa::cli
