// The one table from the core's errors to nlm4_stats.
#pragma once

#include "base/error.h"
#include "frontends/nfs/nlm/messages.h"

namespace stoa::nlm {

NlmStatus to_nlm_status(Errc code);

}  // namespace stoa::nlm
