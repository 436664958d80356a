#include <memory>

#include "appliance/cli/explain_remedies.h"
#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"

namespace stoa::cli {
namespace {

struct ExplainOptions {
  std::string path;
  std::string user;
  std::string client;
};

std::string joined(const Json& words, const char* between = ", ") {
  std::string text;
  for (const Json& word : words) text.append(text.empty() ? "" : between).append(word.get<std::string>());
  return text.empty() ? "nothing" : text;
}

void print_access(const Json& access) {
  const std::string user = access["user"].get<std::string>();
  if (!access["stopped_at"].is_null()) {
    std::printf("access    %s does not get there: may not search %s\n", user.c_str(),
                printable(bytes_of(access, "stopped_at")).c_str());
  }
  std::printf("access    %s may %s here; denied: %s\n", user.c_str(), joined(access["granted"]).c_str(),
              joined(access["denied"]).c_str());
}

void print_quota(const Json& quota) {
  const Json& usage = quota["usage_counted"];
  const auto files = [&] {
    return std::to_string(usage["files"].get<std::int64_t>() + usage["directories"].get<std::int64_t>());
  };
  const auto limit = [&](const char* name) { return quota["limits"][name].get<std::uint64_t>(); };
  std::string text = printable(bytes_of(quota, "path"));
  if (quota.contains("uid")) text += " for user " + printable(quota["user"].get<std::string>());
  if (quota.contains("gid"))
    text += " for group " + (quota["group"].is_null() ? std::to_string(quota["gid"].get<unsigned>())
                                                      : printable(quota["group"].get<std::string>()));
  text += ":";
  for (const char* const name : {"bytes", "soft_bytes"}) {
    if (quota["limits"][name].is_null()) continue;
    text += " " + appliance::round_bytes(usage["bytes"].get<std::uint64_t>()) + " of " + (*name == 's' ? "soft " : "") +
            appliance::round_bytes(limit(name));
  }
  for (const char* const name : {"files", "soft_files"}) {
    if (quota["limits"][name].is_null()) continue;
    text +=
        " " + files() + " of " + (*name == 's' ? "soft " : "") + std::to_string(limit(name)) + " files and directories";
  }
  std::printf("quota     %s%s\n", text.c_str(), quota["full"].get<bool>() ? "  FULL" : "");
}

void print_qos_class(const Json& qos_class) {
  std::string limits;
  for (const auto& [name, value] : qos_class["limits"].items()) {
    if (!value.is_null() && name != "burst_ms" && name != "weight")
      limits += " " + name + " " + std::to_string(value.get<std::uint64_t>()) + "/s";
  }
  const auto waiting = qos_class["use"]["waiting"].get<std::uint64_t>();
  std::printf("limit     %s:%s%s\n", printable(bytes_of(qos_class, "target")).c_str(),
              limits.empty() ? " none, only a weight" : limits.c_str(),
              waiting == 0 ? "" : ("  MAKES " + std::to_string(waiting) + " WAIT").c_str());
}

std::string client_text(const Json& one) {
  const Json& client = one["client"];
  const std::string id = "client " + client["id"].get<std::string>();
  if (!client.contains("name")) return id;
  return printable(bytes_of(client, "name")) + " (" + client["version"].get<std::string>() + ", " +
         client["address"].get<std::string>() + ", " + id + ")";
}

std::string lock_text(const Json& lock) {
  const auto offset = lock["offset"].get<std::uint64_t>();
  std::string text = "bytes " + std::to_string(offset) + " to ";
  text += lock["length"].is_null() ? "the end" : std::to_string(offset + lock["length"].get<std::uint64_t>() - 1);
  if (lock["length"] == 0) text = "no bytes at " + std::to_string(offset);
  return text + (lock["exclusive"].get<bool>() ? ", exclusive" : ", shared") +
         (lock["mandatory"].get<bool>() ? ", mandatory" : "");
}

template <class Text>
void print_held(const char* title, const Json& held, Text text) {
  for (const Json& one : held["list"]) std::printf("%-9s %s: %s\n", title, client_text(one).c_str(), text(one).c_str());
  const auto more = held["total"].get<std::uint64_t>() - held["list"].size();
  if (more != 0) std::printf("%-9s and %llu more\n", title, static_cast<unsigned long long>(more));
}

// Holders that have it open or locked.
void print_held(const Json& held) {
  print_held("open", held["opens"], [](const Json& one) {
    const auto count = one["count"].get<std::uint64_t>();
    return "to " + joined(one["access"], " and ") + (count == 1 ? "" : ", " + std::to_string(count) + " times") +
           (one["deny"].empty() ? "" : ", DENIES others to " + joined(one["deny"], " and "));
  });
  print_held("lock", held["locks"], lock_text);
  print_held("waits", held["waiting"], lock_text);
  print_held("cached", held["leases"], [](const Json& one) {
    const auto kind = one["kind"].get<std::string>();
    return (kind == "handle" ? "keeps it open for later" : kind + " delegation") +
           (one["recalled"].get<bool>() ? ", ASKED BACK" : "");
  });
}

// The export's rule that applies to the client, with its content.
void print_client_rule(const Json& record, const std::string& client) {
  const std::string name = printable(bytes_of(record, "name"));
  const Json& rule = record["client_rule"];
  std::string text;
  if (!rule.is_null()) {
    text = "rule " + std::to_string(rule["number"].get<std::uint64_t>()) + " of the export " + name + ": " +
           client_rule_text(rule);
  } else if (record["clients"].empty()) {
    text = "the export " + name + " has no rules: NFS clients are refused, S3 clients need a key only";
  } else {
    text = "no rule of the export " + name + " fits it: REFUSED";
  }
  std::printf("client    %s: %s\n", client.c_str(), text.c_str());
}

void print_explanation(const Json& reply, const std::string& client) {
  const Json& attr = reply["attributes"];
  std::printf("object    %s %s, mode %s, uid %u, gid %u\n", attr["type"].get<std::string>().c_str(),
              printable(bytes_of(reply, "path")).c_str(), attr["mode"].get<std::string>().c_str(),
              attr["uid"].get<unsigned>(), attr["gid"].get<unsigned>());
  if (reply.contains("access")) print_access(reply["access"]);
  for (const Json& record : reply["exports"]) {
    std::printf("export    %s through %s%s\n", printable(bytes_of(record, "name")).c_str(),
                joined(record["protocols"]).c_str(), record["read_only"].get<bool>() ? ", READ-ONLY" : "");
    if (record.contains("client_rule")) print_client_rule(record, client);
  }
  for (const Json& quota : reply["quotas"]) print_quota(quota);
  print_held(reply["held"]);
  for (const Json& qos_class : reply["qos_classes"]) print_qos_class(qos_class);
  std::printf("space     %s free in the volume\n",
              appliance::round_bytes(reply["bytes_free"].get<std::uint64_t>()).c_str());
  for (const Json& cause : reply["causes"]) {
    std::printf("\ncause     %s\n", printable(cause["what"].get<std::string>()).c_str());
    const std::string remedy = explain_remedy(cause);
    if (!remedy.empty()) std::printf("remedy    %s\n", printable(remedy).c_str());
  }
}

Outcome explain(const Session& session, const ExplainOptions& options) {
  STOA_TRY(client, session.connect());
  Query query{{"path", options.path}};
  if (!options.user.empty()) query["user"] = options.user;
  if (!options.client.empty()) query["client"] = options.client;
  STOA_TRY(reply, client.get("/v1/explain", query));
  session.print(reply, [&] { print_explanation(reply, options.client); });
  return kDone;
}

}  // namespace

void add_explain_command(CLI::App& app, Session& session) {
  const auto o = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain",
                                         "Tell what limits a file or directory: permissions, exports, quotas, QoS, who "
                                         "has it open or locked; and what to do about it");
  command->add_option("path", o->path, "The file or directory, from the root of the volume")->required();
  command->add_option("--user", o->user, "What this user may do here")->type_name("NAME");
  command->add_option("--client", o->client, "Whether the exports let in the client with this address")
      ->type_name("ADDRESS");
  command->callback([&session, o] { session.command = [&session, o] { return explain(session, *o); }; });
}

}  // namespace stoa::cli
