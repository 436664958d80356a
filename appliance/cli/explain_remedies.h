// Remedies for the causes that `stoa explain` shows.
#pragma once

#include <string>

#include "appliance/cli/admin_client.h"

namespace stoa::cli {

// `cause`: one of `causes` of GET /v1/explain. Commands can be pasted, except for words in capitals. Empty: a newer
// server has causes that are not known here.
std::string explain_remedy(const Json& cause);

}  // namespace stoa::cli
