#include "appliance/manual/man_page.h"

#include <algorithm>

#include "appliance/config/keys.h"
#include "appliance/manual/command_tree.h"
#include "appliance/version.h"

namespace stoa::appliance {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string heading(const std::string& name, int section, const std::string& summary) {
  return ".\\\" Made from the program's own definitions; do not edit.\n.TH " + upper(name) + " " +
         std::to_string(section) + " \"\" \"Stoa " + std::string(kVersionText) + "\" \"Stoa\"\n.SH NAME\n" +
         roff(name) + " \\- " + roff(summary) + "\n";
}

std::string synopsis_of(const CommandDoc& doc) {
  std::string line = ".B " + roff(doc.words) + "\n";
  if (!doc.options.empty()) line += "[OPTIONS]\n";
  for (const OptionDoc& argument : doc.arguments)
    line += argument.required ? ".I " + roff(argument.name) + "\n" : "[\\fI" + roff(argument.name) + "\\fR]\n";
  return line;
}

std::string options_of(const CommandDoc& doc) {
  std::string out;
  for (const OptionDoc& argument : doc.arguments)
    out += ".TP\n.I " + roff(argument.name) + "\n" + roff(argument.help) + ".\n";
  for (const OptionDoc& option : doc.options) {
    std::string flags;
    for (const std::string& flag : option.flags)
      flags += (flags.empty() ? "" : ", ") + std::string("\\fB") + roff(flag) + "\\fR";
    if (!option.value.empty()) flags += " \\fI" + roff(option.value) + "\\fR";
    out += ".TP\n" + flags + "\n" + roff(option.help) + ".\n";
  }
  return out;
}

void commands_of(const CommandDoc& doc, std::string& out) {
  for (CommandDoc command : doc.commands) {
    // Every command has them; the page names them once.
    std::erase_if(command.options, [](const OptionDoc& o) { return o.flags.back().starts_with("--help"); });
    if (command.commands.empty()) {
      out += ".SS " + roff(command.words) + "\n" + roff(command.help) + ".\n.PP\n" + synopsis_of(command) +
             options_of(command);
    }
    commands_of(command, out);
  }
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string man_page(const CLI::App& app, int section, const std::string& summary,
                     const std::vector<ManSection>& more) {
  const CommandDoc doc = describe_command(app, app.get_name());
  std::string out = heading(doc.words, section, summary);
  out += ".SH SYNOPSIS\n" + synopsis_of(doc);
  if (!doc.commands.empty()) out += ".I COMMAND\n";
  out += ".SH DESCRIPTION\n" + roff(doc.help) + "\n.SH OPTIONS\n" + options_of(doc);
  if (!doc.commands.empty()) {
    out += ".SH COMMANDS\n";
    commands_of(doc, out);
  }
  for (const ManSection& part : more) out += ".SH " + part.title + "\n" + part.body;
  return out;
}

std::string config_man_page() {
  const Config defaults;
  std::string out = heading("stoad.toml", 5, "configuration of the Stoa storage server");
  out +=
      ".SH DESCRIPTION\nThe file is TOML. A key that is not listed here, or a value of the wrong form, stops the start "
      "with the file's name and "
      "the line. Every key is a flag of\n.BR stoad (8)\nas well: nfs.listen is \\-\\-nfs\\-listen.\n.SH KEYS\n";
  std::string_view section = "?";
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) {
      section = key.section;
      out +=
          section.empty() ? ".SS At the top\n" : ".SS [" + roff(section) + "]\n" + roff(section_help(section)) + "\n";
    }
    out +=
        ".TP\n\\fB" + roff(key.name) + "\\fR = " + roff(to_toml(key, key.get(defaults))) + "\n" + roff(key.help) + "\n";
    if (key.reloadable) out += "Taken over on reload.\n";
  }
  return out + ".SH SEE ALSO\n.BR stoad (8),\n.BR stoa (1)\n";
}

}  // namespace stoa::appliance
