#include "appliance/manual/completion.h"

#include "appliance/manual/command_tree.h"

namespace stoa::appliance {
namespace {

std::string last_word(const std::string& words) {
  return words.substr(words.rfind(' ') + 1);
}

// Every command with its words: the body of a `case`, with the path of commands typed so far as key.
void bash_cases(const CommandDoc& doc, const std::vector<OptionDoc>& global, std::string& out) {
  std::string words;
  for (const CommandDoc& command : doc.commands) words += last_word(command.words) + " ";
  for (const OptionDoc& option : doc.options) {
    for (const std::string& flag : option.flags) words += flag + " ";
  }
  for (const OptionDoc& option : global) {
    for (const std::string& flag : option.flags) words += flag + " ";
  }
  if (!words.empty()) words.pop_back();
  out += "    \"" + doc.words + "\") words=\"" + words + "\" ;;\n";
  for (const CommandDoc& command : doc.commands) bash_cases(command, global, out);
}

void path_cases(const CommandDoc& doc, std::string& out) {
  for (const CommandDoc& command : doc.commands) {
    out += "      \"" + doc.words + " " + last_word(command.words) + "\") path=\"" + command.words + "\" ;;\n";
    path_cases(command, out);
  }
}

std::string bash_function(const CommandDoc& doc) {
  std::string cases;
  std::vector<OptionDoc> global = doc.options;
  CommandDoc top = doc;
  top.options.clear();
  bash_cases(top, global, cases);
  std::string paths;
  path_cases(doc, paths);
  const std::string name = doc.words;
  return "_" + name +
         "() {\n"
         "  local cur path word words i\n"
         "  cur=\"${COMP_WORDS[COMP_CWORD]}\"\n"
         "  path=\"" +
         name +
         "\"\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    word=\"${COMP_WORDS[i]}\"\n"
         "    case \"$path $word\" in\n" +
         paths +
         "    esac\n"
         "  done\n"
         "  words=\"\"\n"
         "  case \"$path\" in\n" +
         cases +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "}\n"
         "complete -o default -F _" +
         name + " " + name + "\n";
}

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

void fish_lines(const CommandDoc& doc, const std::string& root, std::string& out) {
  // Words typed so far, without the program's name.
  const std::string typed = doc.words == root ? "" : doc.words.substr(root.size() + 1);
  std::string condition;
  if (typed.empty()) {
    condition = "__fish_use_subcommand";
  } else {
    std::string rest = typed;
    while (!rest.empty()) {
      const std::string word = rest.substr(0, rest.find(' '));
      rest.erase(0, word.size() + 1);
      condition += (condition.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from ") + word;
    }
  }
  for (const CommandDoc& command : doc.commands) {
    out += "complete -c " + root + " -f -n " + fish_quoted(condition) + " -a " + last_word(command.words) + " -d " +
           fish_quoted(command.help) + "\n";
  }
  for (const OptionDoc& option : doc.options) {
    out += "complete -c " + root;
    if (!typed.empty()) out += " -n " + fish_quoted(condition);
    for (const std::string& flag : option.flags)
      out += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
    if (!option.value.empty()) out += " -r";
    out += " -d " + fish_quoted(option.help) + "\n";
  }
  for (const CommandDoc& command : doc.commands) fish_lines(command, root, out);
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const CommandDoc doc = describe_command(app, app.get_name());
  const std::string heading = "# Completion of " + doc.words + ", made from its command line; do not edit.\n";
  if (shell == "bash") return heading + bash_function(doc);
  // zsh runs completion functions of bash itself (zshcompsys, bashcompinit).
  if (shell == "zsh")
    return "#compdef " + doc.words + "\n" + heading + "autoload -U +X bashcompinit && bashcompinit\n" +
           bash_function(doc);
  std::string out = heading;
  fish_lines(doc, doc.words, out);
  return out;
}

}  // namespace stoa::appliance
