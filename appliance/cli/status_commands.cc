#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include "appliance/cli/remedies.h"
#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"
#include "appliance/data_folder/folder_lock.h"
#include "appliance/data_folder/run_record.h"
#include "appliance/manual/completion.h"
#include "appliance/offline/offline.h"
#include "appliance/version.h"
#include "frontends/admin/finding_sentences.h"

namespace stoa::cli {
namespace {

Outcome status(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(s, client.get("/v1/status"));
  session.print(s, [&] {
    const Json& volume = s["volume"];
    const Json& usage = volume["usage"];
    std::printf("state      %s\n", s["healthy"].get<bool>() ? "healthy" : "NOT HEALTHY (see below)");
    std::printf("stoad      version %s, process %d, since %s\n", s["version"].get<std::string>().c_str(),
                s["pid"].get<int>(), s["started"].get<std::string>().substr(0, 19).c_str());
    std::printf("data       %s (metadata in %s)\n", s["data"].get<std::string>().c_str(),
                s["engine"].get<std::string>().c_str());
    std::printf("volume     %s, id %s\n", volume["name"].get<std::string>().c_str(),
                volume["id"].get<std::string>().c_str());
    std::printf("holds      %s in %lld files and %lld directories\n",
                appliance::round_bytes(usage["bytes"].get<std::uint64_t>()).c_str(), usage["files"].get<long long>(),
                usage["directories"].get<long long>());
    std::printf("space      %s\n", space_text(volume["space"]).c_str());
    for (const Json& protocol : s["protocols"]) {
      std::printf("protocol   %s: %s\n", protocol["name"].get<std::string>().c_str(),
                  protocol["open"].get<bool>() ? protocol["address"].get<std::string>().c_str() : "closed");
    }
    for (const Json& folder : s["data_directories"]) {
      std::printf("folder     %s: %s, %s free\n", folder["path"].get<std::string>().c_str(),
                  folder["ok"].get<bool>() ? "ok" : folder["problem"].get<std::string>().c_str(),
                  appliance::round_bytes(folder["free"].get<std::uint64_t>()).c_str());
    }
    for (const Json& problem : s["problems"]) {
      const auto path = problem["path"].get<std::string>();
      std::printf("problem    %s%s\n", printable(problem["text"].get<std::string>()).c_str(),
                  path.empty() ? "" : (" (" + printable(path) + ")").c_str());
      const std::string to_do(problem_remedy(problem["kind"].get<std::string>()));
      if (!to_do.empty()) std::printf("  to do    %s\n", to_do.c_str());
    }
    for (const Json& sentence : s["warnings"])
      std::printf("warning    %s\n", printable(sentence.get<std::string>()).c_str());
    for (const Json& range : s["damage"])
      std::printf("damage     %s\n", printable(range["text"].get<std::string>()).c_str());
  });
  return kDone;
}

struct CheckOptions {
  bool read_data = false;
  bool quiet = false;
};

void show_progress(std::uint64_t done, std::uint64_t total) {
  std::fprintf(stderr, "\rchecked %llu of %llu", static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(total));
}

void print_report(const Json& report) {
  std::printf("%llu inodes, %llu directories, %llu files, %llu blobs, %s\n", report["inodes"].get<unsigned long long>(),
              report["directories"].get<unsigned long long>(), report["files"].get<unsigned long long>(),
              report["blobs"].get<unsigned long long>(),
              appliance::round_bytes(report["bytes"].get<std::uint64_t>()).c_str());
  for (const Json& problem : report["problems"])
    std::printf("problem: %s\n", printable(problem["text"].get<std::string>()).c_str());
  const auto count = report["problem_count"].get<unsigned long long>();
  if (count == 0) {
    std::printf("No problem was found.\n");
  } else {
    std::printf("%llu problems were found.\n", count);
  }
}

Outcome online_check(const Session& session, const CheckOptions& options, bool progress) {
  STOA_TRY(client, session.connect());
  STOA_TRY(job, client.post("/v1/check", Json{{"read_data", options.read_data}}));
  auto pause = std::chrono::milliseconds(5);
  while (job["state"] == "running") {
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(500));
    STOA_TRY(next, client.get("/v1/check"));
    job = next;
    if (progress) show_progress(job["done"].get<std::uint64_t>(), job["total"].get<std::uint64_t>());
  }
  if (progress) std::fprintf(stderr, "\n");
  if (job["state"] == "failed")
    return fail(Errc::kIo, "the check could not be finished: " + job["error"].get<std::string>());
  const Json report = job["report"];
  session.print(report, [&] { print_report(report); });
  return report["ok"].get<bool>() ? kDone : kProblemsFound;
}

// As the admin interface tells it.
Json finding_json(const core::Finding& finding) {
  Json facts = Json::object();
  const auto names = core::fact_names(finding.kind);
  for (std::size_t i = 0; i < names.size(); ++i) facts[std::string(names[i])] = finding.facts.at(i);
  return {{"kind", to_string(finding.kind)}, {"facts", std::move(facts)}, {"text", admin::sentence(finding)}};
}

Outcome offline_check(const Session& session, const CheckOptions& options, bool progress) {
  STOA_TRY(folder, session.data_folder());
  STOA_TRY(report,
           appliance::check_offline(folder, session.config, options.read_data, progress ? show_progress : nullptr));
  if (progress) std::fprintf(stderr, "\n");
  Json problems = Json::array();
  for (const core::Finding& finding : report.problems) problems.push_back(finding_json(finding));
  const Json json{{"ok", report.ok()},
                  {"inodes", report.inodes},
                  {"directories", report.directories},
                  {"files", report.files},
                  {"blobs", report.blobs},
                  {"bytes", report.bytes},
                  {"problems", std::move(problems)},
                  {"problem_count", report.problem_count}};
  session.print(json, [&] { print_report(json); });
  return report.ok() ? kDone : kProblemsFound;
}

Outcome check(const Session& session, const CheckOptions& options) {
  const bool progress = !options.quiet && !session.json && isatty(STDERR_FILENO) != 0;
  if (!session.server.empty()) return online_check(session, options, progress);
  STOA_TRY(folder, session.data_folder());
  STOA_TRY(holder, appliance::lock_holder(folder));
  return holder ? online_check(session, options, progress) : offline_check(session, options, progress);
}

// A browser does not find the token by itself; it is never printed, because terminals keep their
// history.
Outcome console(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(version, client.get("/v1/version"));  // no user is sent to a server that does not answer
  STOA_TRY(folder, session.data_folder());
  STOA_TRY(run, appliance::read_run_record(folder));
  if (run.admin_url.empty())
    return fail(Errc::kNotFound, "the admin interface listens on no TCP port, which a browser needs; see admin.listen");
  const Json json{{"url", run.admin_url + "/"}, {"token_file", folder.token()}, {"stoad", version["version"]}};
  session.print(json, [&] {
    std::printf("%s/\nSign in with the token in %s, or with one that an administrator made.\n", run.admin_url.c_str(),
                folder.token().c_str());
  });
  return kDone;
}

Outcome version(const Session& session) {
  Json json{{"stoa", std::string(kVersionText)}};
  // Optional: without a daemon the command still succeeds.
  if (auto client = session.connect()) {
    if (const auto reply = client->get("/v1/version")) json["stoad"] = (*reply)["version"];
  }
  session.print(json, [&] {
    std::printf("stoa %s\n", std::string(kVersionText).c_str());
    if (json.contains("stoad")) std::printf("stoad %s (running)\n", json["stoad"].get<std::string>().c_str());
  });
  return kDone;
}

}  // namespace

void add_status_commands(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("status", "Show the state of the server");
  command->callback([&session] { session.command = [&session] { return status(session); }; });

  const auto o = std::make_shared<CheckOptions>();
  command =
      app.add_subcommand("check", "Verify the volume: through stoad when it runs, else by opening the data folder");
  command->add_flag("--read-data", o->read_data, "Verify the checksum of all content, too");
  command->add_flag("--quiet", o->quiet, "Show no progress");
  command->callback([&session, o] { session.command = [&session, o] { return check(session, *o); }; });

  command = app.add_subcommand("console", "Print the address of the web console");
  command->callback([&session] { session.command = [&session] { return console(session); }; });

  command = app.add_subcommand("version", "Show versions");
  command->callback([&session] { session.command = [&session] { return version(session); }; });

  const auto shell = std::make_shared<std::string>();
  command = app.add_subcommand("completion", "Print the completion script of a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&session, &app, shell] {
    session.command = [&app, shell]() -> Outcome {
      std::printf("%s", appliance::completion_script(app, *shell).c_str());
      return kDone;
    };
  });
}

}  // namespace stoa::cli
