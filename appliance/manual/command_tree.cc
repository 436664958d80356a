#include "appliance/manual/command_tree.h"

namespace stoa::appliance {

CommandDoc describe_command(const CLI::App& app, const std::string& words) {
  CommandDoc doc{.words = words, .help = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    OptionDoc entry;
    for (const std::string& name : option->get_snames()) entry.flags.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) entry.flags.push_back("--" + name);
    entry.help = option->get_description();
    entry.required = option->get_required();
    entry.repeats = option->get_items_expected_max() > 1;
    if (entry.flags.empty()) {
      entry.name = option->get_name(true);
      doc.arguments.push_back(std::move(entry));
    } else {
      // A flag expects no value; its type name is the empty text.
      if (option->get_items_expected_max() > 0 && option->get_type_size_max() > 0)
        entry.value = option->get_type_name();
      if (const std::size_t colon = entry.value.find(':'); colon != std::string::npos) entry.value.resize(colon);
      doc.options.push_back(std::move(entry));
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    doc.commands.push_back(describe_command(*command, words + " " + command->get_name()));
  }
  return doc;
}

}  // namespace stoa::appliance
