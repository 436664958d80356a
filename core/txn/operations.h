// Every operation as a free function over the tree, declared on the floor that all who implement or use them share:
// core/data has those on content, core/recycle those on the bin, core/namespace the others, one file each (create.cc
// has create(), and so on). Contracts: core/api/operations.def.
#pragma once

#include "core/api/operations.h"
#include "core/txn/tree.h"

namespace stoa::core {

#define STOA_OPERATION(kind, name, reply, request, routing) Result<reply> name(Tree&, const OpContext&, const request&);
#include "core/api/operations.def"

}  // namespace stoa::core
