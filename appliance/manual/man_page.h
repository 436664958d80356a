// Manual pages made from command lines and from the configuration keys.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace stoa::appliance {

struct ManSection {
  std::string title;  // "EXIT STATUS"
  std::string body;   // roff
};

// The page of a program: synopsis, description, options and commands from `app`, then `more`.
std::string man_page(const CLI::App& app, int section, const std::string& summary, const std::vector<ManSection>& more);
// stoad.toml(5).
std::string config_man_page();

// Text as roff: escapes characters that roff would read as a request.
std::string roff(std::string_view text);

}  // namespace stoa::appliance
