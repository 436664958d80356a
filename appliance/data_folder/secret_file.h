// Files with a token or a key, which must be hidden from other users of the machine.
#pragma once

#include <string>

#include "base/error.h"

namespace stoa::appliance {

// Errors: kAccess when all users of the machine may read or write it, with the remedy; kInvalid: it is no
// file; kNotFound.
Status check_secret_file(const std::string& path);

// After that check. Pipes are read, too: `--token-file <(pass show nas)`.
Result<std::string> read_secret_file(const std::string& path);

}  // namespace stoa::appliance
