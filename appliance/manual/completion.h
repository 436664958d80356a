// Shell completion made from the definition of a command line.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace stoa::appliance {
// `shell`: bash, zsh or fish. Completes commands, options, and the words an option allows; paths elsewhere.
std::string completion_script(const CLI::App& app, const std::string& shell);
}  // namespace stoa::appliance
