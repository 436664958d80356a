// The operation getattr, which others use, too. Contract: core/api/namespace.h.
#pragma once

#include "core/txn/tree.h"

namespace stoa::core {

Result<GetattrReply> getattr(Tree&, const OpContext&, const GetattrRequest&);

}  // namespace stoa::core
