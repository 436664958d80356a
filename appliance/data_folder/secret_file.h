// Files with a token or a key, which nobody else on the machine should know.
#pragma once

#include <string>

#include "base/error.h"

namespace stoa::appliance {

// kAccess: everybody on the machine may read or write it, with what to do; kInvalid: it is no file; kNotFound.
Status check_secret_file(const std::string& path);

// After that check. Pipes are read, too: `--token-file <(pass show nas)`.
Result<std::string> read_secret_file(const std::string& path);

}  // namespace stoa::appliance
