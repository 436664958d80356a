#include <memory>

#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"

namespace stoa::cli {
namespace {

struct TreeOptions {
  std::string path = "/";
  bool children = false;
  bool exact = false;
  bool details = false;
};

// All pages of a paged reply; `member` is the list in it.
Result<Json> all_pages(AdminClient& client, const std::string& route, Query query, const std::string& member) {
  Json all;
  for (;;) {
    STOA_TRY(page, client.get(route, query));
    if (all.is_null()) {
      all = page;
    } else {
      for (Json& item : page[member]) all[member].push_back(std::move(item));
    }
    if (page.value("end", true) || !page.contains("next_cookie")) break;
    query["cookie"] = page["next_cookie"].get<std::string>();
  }
  all.erase("end");
  all.erase("next_cookie");
  return all;
}

Outcome du(const Session& session, const TreeOptions& options) {
  STOA_TRY(client, session.connect());
  Query query{{"path", options.path}};
  if (options.children) query["children"] = "true";
  STOA_TRY(reply, all_pages(client, "/v1/usage", query, "children"));
  session.print(reply, [&] {
    Table table({"BYTES", "FILES", "DIRECTORIES", "PATH"});
    const auto row = [&](const Json& usage, const std::string& path) {
      const auto bytes = usage["bytes"].get<std::uint64_t>();
      table.add({options.exact ? std::to_string(bytes) : appliance::round_bytes(bytes),
                 std::to_string(usage["files"].get<std::int64_t>()),
                 std::to_string(usage["directories"].get<std::int64_t>()), printable(path)});
    };
    const std::string base = options.path.ends_with('/') ? options.path : options.path + "/";
    for (const Json& child : reply.value("children", Json::array()))
      row(child["usage"], base + bytes_of(child, "name"));
    row(reply["usage"], options.path);
    table.print();
  });
  return kDone;
}

char type_letter(const std::string& type) {
  if (type == "directory") return 'd';
  if (type == "symlink") return 'l';
  if (type == "block_device") return 'b';
  if (type == "character_device") return 'c';
  if (type == "socket") return 's';
  if (type == "fifo") return 'p';
  return '-';
}

Outcome ls(const Session& session, const TreeOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, all_pages(client, "/v1/directory", {{"path", options.path}}, "entries"));
  session.print(reply, [&] {
    if (!options.details) {
      for (const Json& entry : reply["entries"]) {
        std::printf("%s%s\n", printable(bytes_of(entry, "name")).c_str(), entry["type"] == "directory" ? "/" : "");
      }
      return;
    }
    Table table({"TYPE", "MODE", "LINKS", "UID", "GID", "SIZE", "MODIFIED", "NAME"});
    for (const Json& e : reply["entries"]) {
      table.add({std::string(1, type_letter(e["type"].get<std::string>())), e.value("mode", ""),
                 std::to_string(e.value("links", 0u)), std::to_string(e.value("uid", 0u)),
                 std::to_string(e.value("gid", 0u)), std::to_string(e.value("size", std::uint64_t{0})),
                 e.value("mtime", "").substr(0, 19), printable(bytes_of(e, "name"))});
    }
    table.print();
  });
  return kDone;
}

Outcome stat(const Session& session, const TreeOptions& options) {
  STOA_TRY(client, session.connect());
  STOA_TRY(reply, client.get("/v1/stat", {{"path", options.path}}));
  session.print(reply, [&] {
    std::printf("path       %s\n", printable(bytes_of(reply, "path")).c_str());
    if (reply.contains("target")) std::printf("target     %s\n", printable(bytes_of(reply, "target")).c_str());
    for (const char* member : {"type", "id", "generation", "mode", "links", "uid", "gid", "size", "allocated", "atime",
                               "mtime", "ctime", "btime", "change", "data_version"}) {
      const Json& value = reply[member];
      std::printf("%-10s %s\n", member, value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
    }
  });
  return kDone;
}

}  // namespace

void add_tree_commands(CLI::App& app, Session& session) {
  const auto o = std::make_shared<TreeOptions>();
  CLI::App* command =
      app.add_subcommand("du", "Show what a directory holds, with all below; takes no longer on a large tree");
  command->add_option("path", o->path, "The directory, from the root of the volume (default: /)");
  command->add_flag("-c,--children", o->children, "Show each directory right below it, too");
  command->add_flag("-b,--exact", o->exact, "Print exact numbers of bytes");
  command->callback([&session, o] { session.command = [&session, o] { return du(session, *o); }; });

  command = app.add_subcommand("ls", "List a directory");
  command->add_option("path", o->path, "The directory, from the root of the volume (default: /)");
  command->add_flag("-l,--long", o->details, "Show mode, owner, size and time");
  command->callback([&session, o] { session.command = [&session, o] { return ls(session, *o); }; });

  command = app.add_subcommand("stat", "Show the attributes of a file or directory");
  command->add_option("path", o->path, "The path, from the root of the volume")->required();
  command->callback([&session, o] { session.command = [&session, o] { return stat(session, *o); }; });
}

}  // namespace stoa::cli
