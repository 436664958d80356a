// The web console built into the program.
#pragma once

#include <span>

#include "frontends/admin/console_files.h"

namespace stoa::appliance {

// Lives as long as the program. Without the console (STOA_CONSOLE=OFF): one page that explains how to get
// it.
std::span<const admin::ConsoleFile> console_files();

}  // namespace stoa::appliance
