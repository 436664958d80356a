#include <cstdio>
#include <memory>

#include "appliance/cli/session.h"

namespace stoa::cli {
namespace {

struct AuditOptions {
  std::string path, user, operation, protocol, result, from, to, day;
  std::vector<std::string> classes;
};

std::string user_text(const Json& record) {
  const auto user = record.find("user");
  if (user == record.end() || !user->is_object()) return "-";
  return (*user)["name"].is_string() ? (*user)["name"].get<std::string>() : (*user)["uid"].dump();
}

// The subject of a record: its path, and the target of a rename, or the request of an
// administrator.
std::string subject(const Json& record) {
  std::string text = printable(bytes_of(record, "path"));
  if (record.contains("to_path")) text += " -> " + printable(bytes_of(record, "to_path"));
  if (record.contains("attribute")) text += " (" + printable(bytes_of(record, "attribute")) + ")";
  if (record.contains("request")) text = printable(bytes_of(record, "request"));
  if (record.contains("claimed")) text += " (claims to be " + printable(bytes_of(record, "claimed")) + ")";
  if (record.contains("count")) text += record["count"].dump() + " records";
  return text;
}

void print_records(const Json& records) {
  for (const Json& record : records) {
    std::printf("%s  %s  %s  %s  %s  %s  %s\n", record.value("time", "").c_str(), printable(user_text(record)).c_str(),
                record.value("operation", "").c_str(), record.value("result", "-").c_str(),
                record.value("protocol", "-").c_str(), printable(record.value("client", "-")).c_str(),
                subject(record).c_str());
  }
}

Outcome query(const Session& session, const AuditOptions& options) {
  STOA_TRY(client, session.connect());
  Query wanted;
  const std::pair<const char*, const std::string*> filters[] = {{"path", &options.path},
                                                                {"user", &options.user},
                                                                {"operation", &options.operation},
                                                                {"protocol", &options.protocol},
                                                                {"result", &options.result},
                                                                {"from", &options.from},
                                                                {"to", &options.to}};
  for (const auto& [name, value] : filters) {
    if (!value->empty()) wanted[name] = *value;
  }
  Json all = Json::array();
  for (;;) {
    STOA_TRY(page, client.get("/v1/audit", wanted));
    if (session.json) {
      for (Json& record : page["records"]) all.push_back(std::move(record));
    } else {
      print_records(page["records"]);
    }
    if (page["next"].is_null()) break;
    wanted["after"] = page["next"].get<std::string>();
  }
  session.print(Json{{"records", all}}, [] {});
  return kDone;
}

void print_users(const char* title, const Json& users, const char* amount = "count") {
  if (!users.is_array()) return;
  std::printf("%s\n", title);
  for (const Json& one : users) {
    std::printf("  %14s  %s\n", one[amount].dump().c_str(), printable(user_text(one)).c_str());
  }
}

// Members missing in a report of an older version are not printed.
void print_bytes(const char* title, const Json& summary, const char* which) {
  if (const auto found = summary.find(which); found != summary.end()) print_users(title, (*found)["users"], "bytes");
}

void print_directories(const Json& summary) {
  const auto directories = summary.find("directories");
  if (directories == summary.end() || !directories->is_object()) return;
  std::printf("growth of directories, as bytes and files (of %s that have a quota or a policy, or are exported)\n",
              (*directories)["total"].dump().c_str());
  for (const Json& one : (*directories)["most"]) {
    const Json& growth = one["growth"];
    std::printf("  %14s  %10s  %s (now %s bytes, %s files)\n",
                growth.is_object() ? growth["bytes"].dump().c_str() : "-",
                growth.is_object() ? growth["files"].dump().c_str() : "-", printable(bytes_of(one, "path")).c_str(),
                one["bytes"].dump().c_str(), one["files"].dump().c_str());
  }
}

Outcome report(const Session& session, const AuditOptions& options) {
  STOA_TRY(client, session.connect());
  Query wanted;
  if (!options.day.empty()) wanted["day"] = options.day;
  STOA_TRY(summary, client.get("/v1/audit/report", wanted));
  session.print(summary, [&] {
    std::printf("%s: %s records\n", summary.value("day", "").c_str(), summary["records"].dump().c_str());
    for (const auto& [operation, count] : summary["operations"].items())
      std::printf("  %14s  %s\n", count.dump().c_str(), operation.c_str());
    print_users("most operations", summary["users"]);
    print_bytes("most bytes written", summary, "written");
    print_bytes("most bytes read", summary, "read");
    print_users("most deletes", summary["deletes"]["users"]);
    print_users("most denials", summary["denials"]["users"]);
    if (summary["lost"] != 0) std::printf("lost %s records\n", summary["lost"].dump().c_str());
    if (const Json& growth = summary["growth"]; growth.is_object())
      std::printf("growth of the volume: %s bytes, %s files\n", growth["bytes"].dump().c_str(),
                  growth["files"].dump().c_str());
    print_directories(summary);
  });
  return kDone;
}

Outcome verify(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(verdict, client.post("/v1/audit/verify", Json::object()));
  const bool ok = verdict["ok"].get<bool>();
  session.print(verdict, [&] {
    if (ok) {
      std::printf("The audit log is whole: %s lines of %s days.\n", verdict["records"].dump().c_str(),
                  verdict["days"].dump().c_str());
    } else {
      std::printf("The audit log was tampered with. %s\n", printable(verdict["problem"].get<std::string>()).c_str());
    }
  });
  return ok ? kDone : kProblemsFound;
}

std::string class_text(const Json& policy) {
  std::string classes;
  for (const Json& one : policy["classes"]) classes.append(classes.empty() ? "" : ",").append(one.get<std::string>());
  return classes.empty() ? "nothing" : classes;
}

void print_policy(const Session& session, const Json& policy) {
  session.print(policy, [&] {
    if (policy["set_on"].is_null()) {
      std::printf("Nothing is recorded: no directory at or above it has a policy.\n");
      return;
    }
    std::printf("%s  (set on %s)\n", class_text(policy).c_str(), printable(bytes_of(policy, "set_on")).c_str());
  });
}

Outcome get_policy(const Session& session, const AuditOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(policy, client.get("/v1/audit/policy", {{"path", options.path}}));
  print_policy(session, policy);
  return kDone;
}

Outcome list_policies(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(policies, client.get_all("/v1/audit/policies", "policies"));
  session.print(Json{{"policies", policies}}, [&] {
    Table table({"RECORDED", "DIRECTORY"});
    for (const Json& policy : policies) table.add({class_text(policy), printable(bytes_of(policy, "path"))});
    table.print();
  });
  return kDone;
}

Outcome set_policy(const Session& session, const AuditOptions& options) {
  Json classes = Json::array();
  for (const std::string& one : options.classes) {
    if (one == "all") {
      classes = {"write", "delete", "rename", "attributes", "read", "list", "denied", "admin"};
    } else if (one != "none") {
      classes.push_back(one);
    }
  }
  STOA_TRY(client, session.connect());
  STOA_TRY(policy, client.put("/v1/audit/policy", {{"path", options.path}}, Json{{"classes", classes}}));
  print_policy(session, policy);
  return kDone;
}

Outcome remove_policy(const Session& session, const AuditOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.remove("/v1/audit/policy", {{"path", options.path}}));
  static_cast<void>(reply);
  session.print(Json{{"removed", options.path}},
                [&] { std::printf("The policy of %s is removed.\n", printable(options.path).c_str()); });
  return kDone;
}

}  // namespace

void add_audit_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("audit", "Who did what: the audit log");
  group->require_subcommand(1);
  const auto o = std::make_shared<AuditOptions>();

  CLI::App* command = group->add_subcommand("query", "Print records of the audit log, oldest first");
  command->add_option("--path", o->path, "Only of this path of the volume and what is below it");
  command->add_option("--user", o->user, "Only of this user, by name or number");
  command->add_option(
      "--operation", o->operation,
      "Only these: create, write, delete (remove, rmdir, purge), rename, attributes, read, list, admin, ...");
  command->add_option("--protocol", o->protocol, "Only what came through nfs, s3, native or admin");
  command->add_option("--result", o->result,
                      "Only with this result: ok, the word of an error, or denied for all errors");
  command->add_option("--from", o->from, "Only from this time on: 2026-11-22 or 2026-11-22T10:00:00Z")
      ->type_name("TIME");
  command->add_option("--to", o->to, "Only before this time")->type_name("TIME");
  command->callback([&session, o] { session.command = [&session, o] { return query(session, *o); }; });

  command = group->add_subcommand("report", "Print the summary of a day");
  command->add_option("day", o->day, "Such as 2026-11-22; default: today");
  command->callback([&session, o] { session.command = [&session, o] { return report(session, *o); }; });

  command = group->add_subcommand("verify", "Check that no line of the audit log was changed, removed or added");
  command->callback([&session] { session.command = [&session] { return verify(session); }; });

  CLI::App* policy = group->add_subcommand("policy", "What is recorded below a directory");
  policy->require_subcommand(1);
  const auto path = [&](CLI::App* one) { one->add_option("path", o->path, "The directory")->required(); };
  command = policy->add_subcommand("get", "Show what is recorded, and which directory says so");
  path(command);
  command->callback([&session, o] { session.command = [&session, o] { return get_policy(session, *o); }; });
  command = policy->add_subcommand("list", "List the directories that have a policy of their own");
  command->callback([&session] { session.command = [&session] { return list_policies(session); }; });
  command = policy->add_subcommand("set", "Say what is recorded below a directory from now on");
  path(command);
  command
      ->add_option("classes", o->classes, "write, delete, rename, attributes, read, list, denied, admin; all; or none")
      ->required()
      ->delimiter(',');
  command->callback([&session, o] { session.command = [&session, o] { return set_policy(session, *o); }; });
  command = policy->add_subcommand("remove", "Take the policy of a directory away; what is set above it holds again");
  path(command);
  command->callback([&session, o] { session.command = [&session, o] { return remove_policy(session, *o); }; });
}

}  // namespace stoa::cli
