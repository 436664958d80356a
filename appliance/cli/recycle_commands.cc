#include <charconv>
#include <memory>

#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"

namespace stoa::cli {
namespace {

constexpr std::uint64_t kDaySeconds = 24 * 3600;

struct RecycleOptions {
  std::string path, item, to, older, days, bytes_max, restore, counted;
  std::vector<std::string> items;
  bool on = false, off = false, inherit = false, all = false;
};

// "14d", "12h", and, where days are expected, "14"; in `unit` seconds.
Result<std::uint64_t> parse_age(std::string_view text, std::uint64_t unit) {
  std::uint64_t number = 0;
  std::string_view digits = text;
  std::uint64_t seconds = kDaySeconds;
  if (digits.ends_with('d') || digits.ends_with('h')) {
    if (digits.back() == 'h') seconds = 3600;
    digits.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool bare = digits.size() == text.size() && unit != kDaySeconds;
  if (bare || error != std::errc{} || end != digits.data() + digits.size() || number > 36'500 * kDaySeconds / seconds ||
      number * seconds % unit != 0) {
    return fail(Errc::kInvalid, "'" + std::string(text) + "' is not " +
                                    (unit == kDaySeconds ? "a number of days" : "a time such as 14d or 12h"));
  }
  return number * seconds / unit;
}

std::string shown_path(const Json& item) {
  return item["path"].is_null() ? "(gone)/" + printable(bytes_of(item, "name")) : printable(bytes_of(item, "path"));
}

std::string who(const Json& item) {
  const Json& by = item["deleted_by"];
  return by["user"].is_null() ? std::to_string(by["uid"].get<std::uint32_t>()) : by["user"].get<std::string>();
}

Outcome list(const Session& session, const RecycleOptions& options) {
  STOA_TRY(client, session.connect());
  Json items = Json::array();
  for (Query query{{"path", options.path}};;) {
    STOA_TRY(page, client.get("/v1/recycle", query));
    for (Json& item : page["items"]) items.push_back(std::move(item));
    if (page["next"].is_null()) break;
    query["after"] = page["next"].get<std::string>();
  }
  session.print(Json{{"items", items}}, [&] {
    Table table({"ITEM", "DELETED", "BY", "THROUGH", "FROM", "SIZE", "PATH"});
    for (const Json& item : items) {
      const bool directory = item["type"] == "directory";
      table.add({item["id"].get<std::string>(), item["deleted_at"].get<std::string>(), printable(who(item)),
                 item["protocol"].get<std::string>(), printable(item["client"].get<std::string>()),
                 directory ? "directory" : appliance::round_bytes(item["bytes"].get<std::uint64_t>()),
                 shown_path(item)});
    }
    table.print();
  });
  return kDone;
}

Outcome restore(const Session& session, const RecycleOptions& options) {
  STOA_TRY(client, session.connect());
  Json body{{"id", options.item}};
  if (!options.to.empty()) body["to"] = options.to;
  STOA_TRY(done, client.post("/v1/recycle/restore", body));
  session.print(done, [&] { std::printf("Restored to %s.\n", printable(bytes_of(done, "path")).c_str()); });
  return kDone;
}

Outcome purge(const Session& session, const RecycleOptions& options) {
  Json body{{"path", options.path}};
  if (!options.items.empty()) body["ids"] = options.items;
  if (!options.older.empty()) {
    STOA_TRY(seconds, parse_age(options.older, 1));
    body["older_than_seconds"] = seconds;
  }
  if (options.items.empty() && options.older.empty() && !options.all)
    return fail(Errc::kInvalid, "say what goes for good: --item, --older-than, or --all");
  STOA_TRY(client, session.connect());
  STOA_TRY(done, client.post("/v1/recycle/purge", body));
  session.print(done, [&] {
    std::printf("%llu removed.\n", static_cast<unsigned long long>(done["removed"].get<std::uint64_t>()));
  });
  return kDone;
}

void print_policy(const Json& policy) {
  const Json& used = policy["used"];
  const std::string set_on = policy["set_on"].is_null() ? "nowhere" : printable(bytes_of(policy, "set_on"));
  std::printf("%s: recycle bin %s (set on %s)\n", printable(bytes_of(policy, "path")).c_str(),
              policy["enabled"].get<bool>() ? "on" : "off", set_on.c_str());
  const auto days = policy["days"].get<std::uint64_t>();
  std::printf("  kept:     %s\n", days == 0 ? "however old" : (std::to_string(days) + " days").c_str());
  std::printf("  at most:  %s\n", policy["bytes_max"].is_null()
                                      ? "any size"
                                      : appliance::round_bytes(policy["bytes_max"].get<std::uint64_t>()).c_str());
  std::printf("  restored: by %s\n",
              policy["restore"] == "admin" ? "administrators" : "who deleted or owns it, directory owners");
  std::printf("  counted:  %s\n", policy["counted"].get<bool>() ? "in quotas" : "in no quota below the volume's");
  std::printf("  holds:    %s in %llu items\n", appliance::round_bytes(used["bytes"].get<std::uint64_t>()).c_str(),
              static_cast<unsigned long long>(used["items"].get<std::uint64_t>()));
}

// Options not given keep their values, or are inherited.
Result<Json> changes_of(const RecycleOptions& options) {
  Json changes = Json::object();
  if (options.on) changes["enabled"] = true;
  if (options.off) changes["enabled"] = false;
  if (!options.days.empty()) {
    STOA_TRY(days, parse_age(options.days, kDaySeconds));
    changes["days"] = days;
  }
  if (options.bytes_max == "none") {
    changes["bytes_max"] = nullptr;
  } else if (!options.bytes_max.empty()) {
    STOA_TRY(bytes, appliance::parse_bytes_with_unit(options.bytes_max, "100GiB, 100GB or 100B"));
    changes["bytes_max"] = bytes;
  }
  if (!options.restore.empty()) changes["restore"] = options.restore;
  if (!options.counted.empty()) changes["counted"] = options.counted == "yes";
  return changes;
}

Outcome policy(const Session& session, const RecycleOptions& options) {
  STOA_TRY(changes, changes_of(options));
  if (options.inherit && !changes.empty())
    return fail(Errc::kInvalid, "--inherit takes the policy away; it goes with no other option");
  STOA_TRY(client, session.connect());
  const Query query{{"path", options.path}};
  if (options.inherit) {
    STOA_TRY(removed, client.remove("/v1/recycle/policy", query));
    static_cast<void>(removed);
  }
  STOA_TRY(now, client.get("/v1/recycle/policy", query));
  if (!changes.empty()) {
    Json body = Json::object();
    for (const char* member : {"enabled", "days", "bytes_max", "restore", "counted"}) body[member] = now[member];
    // Setting any rule of a policy that was never set enables it.
    if (now["set_on"].is_null()) body["enabled"] = true;
    body.update(changes);
    STOA_TRY(set, client.put("/v1/recycle/policy", query, body));
    now = std::move(set);
  }
  session.print(now, [&] { print_policy(now); });
  return kDone;
}

Outcome policies(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(found, client.get_all("/v1/recycle/policies", "policies"));
  session.print(Json{{"policies", found}}, [&] {
    Table table({"BIN", "DAYS", "AT MOST", "RESTORED BY", "COUNTED", "DIRECTORY"});
    for (const Json& policy : found) {
      const auto days = policy["days"].get<std::uint64_t>();
      table.add({policy["enabled"].get<bool>() ? "on" : "off", days == 0 ? "any age" : std::to_string(days),
                 policy["bytes_max"].is_null() ? "any size"
                                               : appliance::round_bytes(policy["bytes_max"].get<std::uint64_t>()),
                 policy["restore"].get<std::string>(), policy["counted"].get<bool>() ? "yes" : "no",
                 printable(bytes_of(policy, "path"))});
    }
    table.print();
  });
  return kDone;
}

}  // namespace

void add_recycle_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("recycle", "What was deleted, and is kept for a while");
  group->require_subcommand(1);
  const auto o = std::make_shared<RecycleOptions>();

  CLI::App* command = group->add_subcommand("list", "List what was deleted below a directory and is kept");
  command->add_option("path", o->path, "The directory")->default_val("/");
  command->callback([&session, o] { session.command = [&session, o] { return list(session, *o); }; });

  command = group->add_subcommand("restore", "Take something out of a recycle bin again");
  command->add_option("item", o->item, "As the list shows it")->required();
  command->add_option("--to", o->to, "A directory, or a path that is free; default: where it was")->type_name("PATH");
  command->callback([&session, o] { session.command = [&session, o] { return restore(session, *o); }; });

  command = group->add_subcommand("purge", "Remove for good what was deleted below a directory and is kept");
  command->add_option("path", o->path, "The directory")->required();
  command->add_option("--item", o->items, "Only this one; may be given more than once")->type_name("ITEM");
  command->add_option("--older-than", o->older, "Only what was deleted at least so long ago: 14d, 12h")
      ->type_name("TIME");
  command->add_flag("--all", o->all, "Everything");
  command->callback([&session, o] { session.command = [&session, o] { return purge(session, *o); }; });

  command = group->add_subcommand("policy", "Show or set what happens to what is deleted in a directory");
  command->add_option("path", o->path, "The directory")->required();
  CLI::Option* const on = command->add_flag("--on", o->on, "Keep what is deleted");
  command->add_flag("--off", o->off, "Delete at once; what is kept already ages on")->excludes(on);
  command->add_flag("--inherit", o->inherit, "Have no policy of its own");
  command->add_option("--days", o->days, "Then it is purged (default 14); 0: however old it is")->type_name("DAYS");
  command->add_option("--max", o->bytes_max, "Purge the oldest beyond this size, such as 100GiB; none: any size")
      ->type_name("SIZE");
  command
      ->add_option("--restore", o->restore,
                   "Who may restore: owner (who deleted or owns it, and who owns a directory by a token) or admin")
      ->check(CLI::IsMember({"owner", "admin"}));
  command->add_option("--counted", o->counted, "Whether it counts in quotas: yes or no")
      ->check(CLI::IsMember({"yes", "no"}));
  command->callback([&session, o] { session.command = [&session, o] { return policy(session, *o); }; });

  command = group->add_subcommand("policies", "List the directories that have a policy of their own");
  command->callback([&session] { session.command = [&session] { return policies(session); }; });
}

}  // namespace stoa::cli
