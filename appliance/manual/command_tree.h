// A command line as data: the source of the manual and the completion.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace stoa::appliance {

struct OptionDoc {
  std::vector<std::string> flags;  // "-l", "--long"; empty: an argument
  std::string value;               // "DIR"; empty: takes none
  std::string name;                // of an argument
  std::string help;
  bool required = false;
  bool repeats = false;
};

struct CommandDoc {
  std::string words;  // "stoa export create"
  std::string help;
  std::vector<OptionDoc> options;
  std::vector<OptionDoc> arguments;
  std::vector<CommandDoc> commands;
};

CommandDoc describe_command(const CLI::App& app, const std::string& words);

}  // namespace stoa::appliance
