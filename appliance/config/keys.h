// Every configuration key, once: its name, meaning, form and place in Config.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "appliance/config/config.h"
#include "base/error.h"

namespace stoa::appliance {

enum class KeyForm : std::uint8_t { kFlag, kNumber, kBytes, kText, kTexts };
using KeyValue = std::variant<bool, std::uint64_t, std::string, std::vector<std::string>>;

struct ConfigKey {
  std::string_view section;  // empty: top of the file
  std::string_view name;
  KeyForm form;
  bool reloadable;        // taken over on SIGHUP; others need a restart
  std::string_view help;  // sentences, for the example file and the man page
  std::function<KeyValue(const Config&)> get;
  std::function<Status(Config&, KeyValue)> set;  // kInvalid with the reason

  std::string full_name() const;  // "nfs.listen"
  std::string flag() const;       // "--nfs-listen"
};

// In the order of the example file.
std::span<const ConfigKey> config_keys();
const ConfigKey* find_key(std::string_view full_name);
// The key with the name closest to a mistyped one; null when none is close.
const ConfigKey* closest_key(std::string_view full_name);
std::string_view section_help(std::string_view section);

// Converts a flag's value ("true", "64MiB", "a,b") into the form of `key`.
Result<KeyValue> parse_value(const ConfigKey& key, std::string_view text);
// As TOML text.
std::string to_toml(const ConfigKey& key, const KeyValue& value);

}  // namespace stoa::appliance
