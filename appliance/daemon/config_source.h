// The source of the configuration, for reading it again on SIGHUP.
#pragma once

#include <string>

#include "appliance/config/config_file.h"
#include "base/error.h"

namespace stoa::appliance {

struct ConfigSource {
  std::string file;   // empty: none
  Settings settings;  // flags; they win over the file
  Result<Config> load() const;
};

}  // namespace stoa::appliance
