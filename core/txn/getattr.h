// The operation getattr, which others use, too. Contract: core/api/namespace.h.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

Result<GetattrReply> getattr(VolumeContext&, const OpContext&, const GetattrRequest&);

}  // namespace stoa::core
