// What is in the bins, for people.
#pragma once

#include "core/api/recycle.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

Result<ListRecycledReply> list_recycled(VolumeContext&, const OpContext&, const ListRecycledRequest&);
Result<RecycleStatusReply> recycle_status(VolumeContext&, const OpContext&, const RecycleStatusRequest&);

}  // namespace stoa::core
