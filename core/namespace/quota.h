// Reports of soft limits of quotas.
#pragma once

#include "core/txn/tree.h"

namespace stoa::core {

// Tells the log of soft limits that were passed or are kept again since the last call.
Status report_soft_limits(Tree&);

}  // namespace stoa::core
