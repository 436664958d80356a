// What is in the bins, for people.
#pragma once

#include "core/api/recycle.h"
#include "core/txn/tree.h"

namespace stoa::core {

Result<ListRecycledReply> list_recycled(Tree&, const OpContext&, const ListRecycledRequest&);
Result<RecycleStatusReply> recycle_status(Tree&, const OpContext&, const RecycleStatusRequest&);

}  // namespace stoa::core
