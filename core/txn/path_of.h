// The operation path_of, which others use, too. Contract: core/api/namespace.h.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

Result<PathOfReply> path_of(VolumeContext&, const OpContext&, const PathOfRequest&);

}  // namespace stoa::core
