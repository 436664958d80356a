// The files and folders that a configuration names.
#pragma once

#include "appliance/config/config.h"
#include "base/error.h"

namespace stoa::appliance {

// Checks certificates, keys and the keytab of enabled protocols. They exist, can be read, are whole, belong together,
// and secrets are not open to all users of the machine. kInvalid, with all problems, one a line.
Status check_credentials(const Config& config);

// The same, and the data folder, blob directories, log file and admin socket, as far as it shows without making any of
// them.
Status check_named_files(const Config& config);

}  // namespace stoa::appliance
