// Reading a configuration file and settings given as flags.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "appliance/config/config.h"
#include "base/error.h"

namespace stoa::appliance {

// Reads TOML text over `config`. `origin` names the file in messages. Errors (kInvalid) list every problem found, one a
// line, each as "FILE:LINE: problem; remedy".
Status read_config_text(std::string_view text, const std::string& origin, Config& config);
// kNotFound, kAccess, kInvalid.
Status read_config_file(const std::string& path, Config& config);

// Settings by full name, such as {"nfs.listen", "127.0.0.1:0"}; later ones win.
using Settings = std::vector<std::pair<std::string, std::string>>;
Status apply_settings(const Settings& settings, Config& config);

// A path longer than sun_path cannot be bound (unix(7)).
inline constexpr std::size_t kSocketPathMax = 107;

// Rules between keys (a certificate needs a key). kInvalid.
Status check_config(const Config& config);

// The example file: every key with its meaning and its default.
std::string example_config();

// Full names of the keys with different values.
std::vector<std::string> changed_keys(const Config& before, const Config& after, bool reloadable);

}  // namespace stoa::appliance
