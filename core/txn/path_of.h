// The operation path_of, which others use, too. Contract: core/api/namespace.h.
#pragma once

#include "core/txn/tree.h"

namespace stoa::core {

Result<PathOfReply> path_of(Tree&, const OpContext&, const PathOfRequest&);

}  // namespace stoa::core
