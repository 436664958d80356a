#include "appliance/config/config_file.h"
#include "appliance/config/keys.h"

namespace stoa::appliance {
namespace {

constexpr std::size_t kLineWidth = 100;

void append_comment(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t cut = text.size();
    if (cut > kLineWidth - 2) cut = text.rfind(' ', kLineWidth - 2);
    if (cut == std::string_view::npos) cut = text.size();
    out.append("# ").append(text.substr(0, cut)).append("\n");
    text.remove_prefix(cut);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
}

}  // namespace

std::string example_config() {
  const Config defaults;
  std::string out =
      "# Configuration of stoad. Every key is shown with its default; what is left out has that default.\n"
      "# Each key is a flag of stoad as well: nfs.listen is --nfs-listen. Sizes: \"64MiB\", \"2TB\" or a number of "
      "bytes.\n"
      "# Written by `stoad --print-example-config`.\n";
  std::string_view section;
  for (const ConfigKey& key : config_keys()) {
    if (key.section != section) {
      section = key.section;
      out.append("\n").append("# ").append(section_help(section)).append("\n");
      out.append("[").append(section).append("]\n");
    }
    out += '\n';
    append_comment(out, key.help);
    if (key.reloadable) out += "# Taken over on reload (SIGHUP).\n";
    out.append(key.name).append(" = ").append(to_toml(key, key.get(defaults))).append("\n");
  }
  return out;
}

}  // namespace stoa::appliance
