// The command line of stoad.
#pragma once

#include <deque>
#include <string>

#include <CLI/CLI.hpp>

#include "appliance/daemon/config_source.h"

namespace stoa::appliance {

struct StoadOptions {
  ConfigSource source;
  bool background = false;
  bool print_example_config = false;
  bool check_config = false;
  bool version = false;
  int ready_fd = -1;
};

// `options` must outlive `app`.
void build_stoad_app(CLI::App& app, StoadOptions& options);

}  // namespace stoa::appliance
