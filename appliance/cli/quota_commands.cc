#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"

namespace stoa::cli {
namespace {

struct QuotaOptions {
  std::string path;
  std::string bytes, files, soft_bytes, soft_files, grace;
  std::string count;
  std::string user, group;
  std::string filled;
  bool children = false;
  bool off = false;
};

std::string of_limit(std::int64_t used, const Json& limit, const Json& soft, const Json& since, bool bytes) {
  const auto show = [bytes](std::uint64_t n) { return bytes ? appliance::round_bytes(n) : std::to_string(n); };
  std::string text = show(static_cast<std::uint64_t>(used));
  if (limit.is_null()) {
    text += " of any";
  } else {
    const auto most = limit.get<std::uint64_t>();
    text += " of " + show(most);
    if (most > 0) {
      const double percent = static_cast<double>(used) * 100 / static_cast<double>(most);
      text += " (" + std::to_string(static_cast<std::uint64_t>(percent)) + " %)";
    }
  }
  if (!soft.is_null()) text += ", soft " + show(soft.get<std::uint64_t>());
  if (since.is_string()) text += ", over it since " + since.get<std::string>();
  return text;
}

std::vector<std::string> quota_row(const Json& quota, std::string who) {
  const Json& usage = quota["usage_counted"];
  const Json& limits = quota["limits"];
  const Json& since = quota["over_soft_since"];
  const std::int64_t objects = usage["files"].get<std::int64_t>() + usage["directories"].get<std::int64_t>();
  return {of_limit(usage["bytes"].get<std::int64_t>(), limits["bytes"], limits["soft_bytes"], since["bytes"], true),
          of_limit(objects, limits["files"], limits["soft_files"], since["files"], false), std::move(who)};
}

// Usage classes that a quota may count beside live.
constexpr std::string_view kClasses[] = {"recycled", "open-but-deleted", "multipart"};

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

// "recycled, open but deleted, multipart", or "only live".
std::string classes_text(const Json& limits) {
  std::string text;
  for (const Json& name : limits["count"]) text += (text.empty() ? "" : ", ") + words_of(name.get<std::string>());
  return text.empty() ? "only live" : text;
}

std::string limits_text(const Json& limits) {
  std::string text;
  const auto add = [&](const char* what, const Json& limit, bool bytes) {
    if (limit.is_null()) return;
    const auto number = limit.get<std::uint64_t>();
    text += (text.empty() ? "" : ", ") + std::string(what) + " " +
            (bytes ? appliance::round_bytes(number) : std::to_string(number));
  };
  add("bytes", limits["bytes"], true);
  add("files", limits["files"], false);
  add("soft bytes", limits["soft_bytes"], true);
  add("soft files", limits["soft_files"], false);
  if (limits["count"].size() < std::size(kClasses))
    text += (text.empty() ? "" : ", ") + ("counted: " + classes_text(limits));
  return text;
}

std::string owner_name(const Json& quota) {
  const bool user = quota.contains("uid");
  const Json& name = quota[user ? "user" : "group"];
  const std::string number = std::to_string(quota[user ? "uid" : "gid"].get<std::uint32_t>());
  return (user ? "user " : "group ") + (name.is_string() ? name.get<std::string>() : number);
}

void print_quotas(const std::vector<Json>& quotas) {
  Table table({"BYTES", "FILES AND DIRECTORIES", "COUNTED", "PATH"});
  for (const Json& quota : quotas) {
    const bool owner = quota.contains("uid") || quota.contains("gid");
    auto row = quota_row(quota, owner ? "" : classes_text(quota["limits"]));
    row.push_back(printable(bytes_of(quota, "path")) + (owner ? " for " + owner_name(quota) : ""));
    table.add(std::move(row));
  }
  table.print();
}

void print_by_class(const Json& quota) {
  const auto text = [](const Json& usage) {
    return appliance::round_bytes(usage["bytes"].get<std::uint64_t>()) + " in " +
           std::to_string(usage["files"].get<std::int64_t>() + usage["directories"].get<std::int64_t>());
  };
  std::printf("All in it: %s", text(quota["usage"]).c_str());
  for (const auto& [name, usage] : quota["usage_by_class"].items())
    std::printf("; %s: %s", words_of(name).c_str(), text(usage).c_str());
  std::printf(".\n");
}

void print_counted(const Json& quota) {
  std::string counted, not_counted;
  for (const auto& [what, counts] : quota["counted"].items()) {
    if (counts.is_null()) continue;
    std::string& list = counts.get<bool>() ? counted : not_counted;
    list += (list.empty() ? "" : ", ") + words_of(what);
  }
  std::printf("Counted: %s.", counted.c_str());
  if (!not_counted.empty()) std::printf(" Not counted: %s.", not_counted.c_str());
  std::printf("\n");
  if (quota["counted"]["recycled"].is_null()) std::printf("What is deleted in it is not kept.\n");
}

void print_counting(const Json& counting) {
  if (counting.is_null()) return;
  std::printf(
      "Users and groups are being counted: %llu of %llu files and directories of the volume looked at. Until that is "
      "done, "
      "their usage is preliminary and their limits refuse nothing.\n",
      static_cast<unsigned long long>(counting["looked_at"].get<std::uint64_t>()),
      static_cast<unsigned long long>(counting["in_all"].get<std::uint64_t>()));
}

void print_one(const Json& quota) {
  const bool owner = quota.contains("uid") || quota.contains("gid");
  if (owner) {
    Table table({"BYTES", "FILES AND DIRECTORIES", "OWNER"});
    table.add(quota_row(quota, owner_name(quota)));
    table.print();
    print_by_class(quota);
    print_counted(quota);
    print_counting(quota["counting"]);
    return;
  }
  print_quotas({quota});
  print_by_class(quota);
  if (!quota["children"].is_null())
    std::printf("New directories in it get: %s.\n", limits_text(quota["children"]).c_str());
  if (quota["counts_owners"].get<bool>())
    std::printf("Users and groups are counted; see them with `stoa quota owners`.\n");
  print_counting(quota["counting"]);
  print_counted(quota);
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

// "7d", "12h", "30m" or "45s".
Result<Json> parse_grace(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::uint64_t seconds = unit == "d" ? 86'400 : unit == "h" ? 3600 : unit == "m" ? 60 : unit == "s" ? 1 : 0;
  constexpr std::uint64_t kMost = 0xffffffff;
  if (error != std::errc{} || seconds == 0 || number > kMost / seconds)
    return fail(Errc::kInvalid, "'" + text + "' is no time of grace, such as 7d, 12h or 30m");
  return Json(number * seconds);
}

// "recycled,open-but-deleted,multipart", or "none". Null: not set.
Result<Json> parse_classes(const std::string& text) {
  if (text.empty()) return Json();
  Json names = Json::array();
  if (text == "none") return names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    if (std::ranges::find(kClasses, name) == std::end(kClasses))
      return fail(Errc::kInvalid,
                  "'" + name + "' is not recycled, open-but-deleted or multipart; what is live always counts");
    std::string in_json = name;
    std::ranges::replace(in_json, '-', '_');
    names.push_back(std::move(in_json));
    begin = end + 1;
  }
  return names;
}

Query query_of(const QuotaOptions& options) {
  Query query{{"path", options.path}};
  if (!options.user.empty()) query["user"] = options.user;
  if (!options.group.empty()) query["group"] = options.group;
  if (options.children) query["children"] = "true";
  return query;
}

Outcome set(const Session& session, const QuotaOptions& options) {
  const std::array<std::tuple<const char*, const std::string*, bool>, 4> limits{
      {{"bytes", &options.bytes, true},
       {"files", &options.files, false},
       {"soft_bytes", &options.soft_bytes, true},
       {"soft_files", &options.soft_files, false}}};
  if (std::ranges::all_of(limits, [](const auto& limit) { return std::get<1>(limit)->empty(); }) &&
      options.grace.empty() && options.count.empty())
    return fail(Errc::kInvalid, "give --bytes, --files, --soft-bytes, --soft-files, --grace or --count");
  STOA_TRY(classes, parse_classes(options.count));
  Json changes = Json::object();
  for (const auto& [name, text, bytes] : limits) {
    if (text->empty()) continue;
    STOA_TRY(limit, parse_limit(*text, bytes));
    changes[name] = limit;
  }
  if (!options.grace.empty()) {
    STOA_TRY(grace, parse_grace(options.grace));
    changes["grace_seconds"] = grace;
  }
  if (!classes.is_null()) changes["count"] = classes;
  STOA_TRY(client, session.connect());
  // Options not given keep their values.
  STOA_TRY(before, client.get("/v1/quota", query_of(options)));
  Json body = options.children ? before["children"] : before["limits"];
  if (body.is_null()) body = Json::object();
  body.update(changes);
  STOA_TRY(quota, client.put("/v1/quota", query_of(options), body));
  session.print(quota, [&] { print_one(quota); });
  return kDone;
}

Outcome get(const Session& session, const QuotaOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(quota, client.get("/v1/quota", query_of(options)));
  session.print(quota, [&] { print_one(quota); });
  return kDone;
}

Outcome list(const Session& session, const QuotaOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(quotas, client.get_all("/v1/quotas", "quotas",
                                  options.filled.empty() ? Query{} : Query{{"filled", options.filled}}));
  session.print(Json{{"quotas", quotas}}, [&] { print_quotas(quotas); });
  return kDone;
}

Outcome owners(const Session& session, const QuotaOptions& options) {
  STOA_TRY(client, session.connect());
  // In this order: once this reports complete counts, the next answer is exact.
  STOA_TRY(directory, client.get("/v1/quota", {{"path", options.path}}));
  STOA_TRY(found, client.get_all("/v1/quota/owners", "owners", {{"path", options.path}}));
  session.print(Json{{"owners", found}, {"counting", directory["counting"]}}, [&] {
    Table table({"BYTES", "FILES AND DIRECTORIES", "OWNER"});
    for (const Json& quota : found) table.add(quota_row(quota, owner_name(quota)));
    table.print();
    print_counting(directory["counting"]);
  });
  return kDone;
}

Outcome count_owners(const Session& session, const QuotaOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(quota, client.put("/v1/quota/owners", {{"path", options.path}}, Json{{"counted", !options.off}}));
  session.print(quota, [&] { print_one(quota); });
  return kDone;
}

Outcome remove(const Session& session, const QuotaOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/quota", query_of(options)));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.path}},
                [&] { std::printf("The quota of %s is removed.\n", printable(options.path).c_str()); });
  return kDone;
}

}  // namespace

void add_quota_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("quota", "Limits on directories, and on users and groups in them");
  group->require_subcommand(1);
  const auto o = std::make_shared<QuotaOptions>();
  const auto path = [&](CLI::App* command) {
    command->add_option("path", o->path, "The directory, from the root of the volume")->required();
  };
  const auto whose = [&](CLI::App* command) {
    CLI::Option* const user =
        command->add_option("--user", o->user, "Of what this user owns below it")->type_name("NAME|UID");
    CLI::Option* const of_group =
        command->add_option("--group", o->group, "Of what belongs to this group below it")->type_name("NAME|GID");
    CLI::Option* const children =
        command->add_flag("--children", o->children, "Of each directory that is made in it from now on");
    user->excludes(of_group)->excludes(children);
    of_group->excludes(children);
  };

  CLI::App* command = group->add_subcommand("set", "Limit all that is below a directory");
  path(command);
  whose(command);
  command
      ->add_option("--count", o->count,
                   "What counts beside what is live: recycled,open-but-deleted,multipart (the default), some of them, "
                   "or none; for the directory with all "
                   "users and groups in it")
      ->type_name("CLASSES")
      ->excludes("--user")
      ->excludes("--group");
  command->add_option("--bytes", o->bytes, "Bytes of content, such as 10GiB; none: no limit")->type_name("SIZE");
  command->add_option("--files", o->files, "Files and directories together; none: no limit")->type_name("NUMBER");
  command->add_option("--soft-bytes", o->soft_bytes, "May be passed for the time of grace; none: no limit")
      ->type_name("SIZE");
  command->add_option("--soft-files", o->soft_files, "May be passed for the time of grace; none: no limit")
      ->type_name("NUMBER");
  command->add_option("--grace", o->grace, "How long soft limits may be passed, such as 7d (the default), 12h or 30m")
      ->type_name("TIME");
  command->callback([&session, o] { session.command = [&session, o] { return set(session, *o); }; });

  command = group->add_subcommand("get", "Show limits and usage, and what is counted");
  path(command);
  whose(command);
  command->callback([&session, o] { session.command = [&session, o] { return get(session, *o); }; });

  command = group->add_subcommand("list", "List all directories with a quota");
  command
      ->add_option("--filled", o->filled,
                   "Only those of which so many percent of a hard limit are used, or whose soft limit is passed")
      ->type_name("PERCENT");
  command->callback([&session, o] { session.command = [&session, o] { return list(session, *o); }; });

  command =
      group->add_subcommand("owners", "List usage and limits of users and groups in a directory that counts them");
  path(command);
  command->callback([&session, o] { session.command = [&session, o] { return owners(session, *o); }; });

  command = group->add_subcommand("count-owners", "Count usage by user and group in a directory");
  path(command);
  command->add_flag("--off", o->off, "Count no more; limits of users and groups go, too");
  command->callback([&session, o] { session.command = [&session, o] { return count_owners(session, *o); }; });

  command = group->add_subcommand("remove", "Take limits away");
  path(command);
  whose(command);
  command->callback([&session, o] { session.command = [&session, o] { return remove(session, *o); }; });
}

}  // namespace stoa::cli
