// Every operation as a free function over the tree, declared below all folders that implement or use them. One file
// each (create.cc has create(), and so on): core/data has those on content, core/recycle those on the bin,
// core/namespace the others. Contracts: core/api/operations.def.
#pragma once

#include <type_traits>

#include "core/api/operations.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// Operations that only read have no more of the volume than its view.
template <OperationKind kKind>
using OperandOf = std::conditional_t<kKind == OperationKind::kReads, const VolumeView, VolumeContext>;

#define STOA_OPERATION(kind, name, reply, request, routing) \
  Result<reply> name(OperandOf<OperationKind::k##kind>&, const OpContext&, const request&);
#include "core/api/operations.def"

}  // namespace stoa::core
