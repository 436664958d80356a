#include <memory>

#include "appliance/cli/session.h"
#include "appliance/config/byte_size.h"
#include "appliance/offline/offline.h"

namespace stoa::cli {
namespace {

Outcome create(const Session& session, const std::string& name) {
  STOA_TRY(folder, session.data_folder());
  STOA_TRY(made, appliance::create_volume(folder, session.config, name));
  const Json json{{"data", made}, {"name", name}};
  session.print(json, [&] {
    std::printf("Volume %s is made in %s. Start it with: stoad --data %s\n", name.c_str(), made.c_str(), made.c_str());
  });
  return kDone;
}

Outcome sweep_kept(const Session& session) {
  STOA_TRY(folder, session.data_folder());
  STOA_TRY(freed, appliance::sweep_volume(folder, session.config));
  const Json json{{"blobs", freed.blobs}, {"bytes", freed.bytes}};
  session.print(json, [&] {
    std::printf("%llu blobs that no file refers to are freed, %s.\n", static_cast<unsigned long long>(freed.blobs),
                appliance::round_bytes(freed.bytes).c_str());
  });
  return kDone;
}

Outcome info(const Session& session) {
  STOA_TRY(client, session.connect());
  STOA_TRY(volume, client.get("/v1/volume"));
  session.print(volume, [&] {
    std::printf("name         %s\nid           %s\ncreated      %s\n", volume["name"].get<std::string>().c_str(),
                volume["id"].get<std::string>().c_str(), volume["created"].get<std::string>().c_str());
    std::printf("bytes        %s\n", appliance::round_bytes(volume["usage"]["bytes"].get<std::uint64_t>()).c_str());
    std::printf("files        %lld\ndirectories  %lld\n", volume["usage"]["files"].get<long long>(),
                volume["usage"]["directories"].get<long long>());
    std::printf("space        %s\n", space_text(volume["space"]).c_str());
  });
  return kDone;
}

}  // namespace

void add_volume_commands(CLI::App& app, Session& session) {
  CLI::App* group = app.add_subcommand("volume", "The volume in a data folder");
  group->require_subcommand(1);

  const auto name = std::make_shared<std::string>("stoa");
  CLI::App* command =
      group->add_subcommand("create", "Make an empty volume in the data folder; stoad must not run there");
  command->add_option("--name", *name, "The volume's name (default: stoa)")->type_name("NAME");
  command->callback([&session, name] { session.command = [&session, name] { return create(session, *name); }; });

  command = group->add_subcommand("sweep",
                                  "Free the content that a start has kept because no file refers to it (see stoa "
                                  "status); stoad must not run there. If "
                                  "metadata were lost, restore them instead: what is freed is gone");
  command->callback([&session] { session.command = [&session] { return sweep_kept(session); }; });

  command = group->add_subcommand("info", "Show name, id, age and space of the volume");
  command->callback([&session] { session.command = [&session] { return info(session); }; });
}

}  // namespace stoa::cli
