#include "appliance/daemon/command_line.h"

#include "appliance/config/keys.h"

namespace stoa::appliance {
namespace {

std::string type_of(KeyForm form) {
  switch (form) {
    case KeyForm::kFlag:
      return "true|false";
    case KeyForm::kNumber:
      return "NUMBER";
    case KeyForm::kBytes:
      return "SIZE";
    case KeyForm::kText:
      return "TEXT";
    case KeyForm::kTexts:
      return "TEXT,TEXT";
  }
  return "";
}

}  // namespace

void build_stoad_app(CLI::App& app, StoadOptions& options) {
  app.name("stoad");
  app.description("Serves one volume over NFS and S3.");
  app.add_option("--config", options.source.file, "The configuration file")->type_name("FILE");
  app.add_flag("--background", options.background,
               "Return as soon as requests are served, and go on in the background; the log goes to stoad.log in the "
               "data folder unless log.file says otherwise");
  app.add_option("--ready-fd", options.ready_fd, "Write a line to this file descriptor when requests are served")
      ->type_name("FD");
  app.add_flag("--check-config", options.check_config, "Check the configuration and exit");
  app.add_flag("--print-example-config", options.print_example_config,
               "Print a configuration file with every key, its meaning and its default, and exit");
  app.add_flag("--version", options.version, "Print the version and exit");
  const Config defaults;
  for (const ConfigKey& key : config_keys()) {
    const std::string shown = to_toml(key, key.get(defaults));
    // CLI11 takes names and help by value, so nothing of `key` is kept but its name.
    app.add_option_function<std::string>(
           key.flag(),
           [&options, name = key.full_name()](const std::string& text) {
             options.source.settings.emplace_back(name, text);
           },
           std::string(key.help.substr(0, key.help.find_last_not_of('.') + 1)) + " (default: " + shown + ")")
        ->type_name(type_of(key.form))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

}  // namespace stoa::appliance
