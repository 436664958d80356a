// Reports of soft limits of quotas.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Tells the log of soft limits that were passed or are kept again since the last call.
Status report_soft_limits(VolumeContext&);

}  // namespace stoa::core
