// Two names that swap what they name: rename() with RenameRequest::exchange.
#pragma once

#include "core/api/requests.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

Result<RenameReply> rename_exchange(VolumeContext& volume, const OpContext& ctx, const RenameRequest& req);

}  // namespace stoa::core
