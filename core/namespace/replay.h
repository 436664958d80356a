// The answer to a request that was done before the start and is sent again (core/journal/finished_requests.h): what its
// reply would say of the files as they are now. Absent: it was not done, and is to be run. kStale: the file that it
// made is gone again.
#pragma once

#include <optional>

#include "core/api/requests.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

template <class Reply>
using Replay = std::optional<Result<Reply>>;

// `kind`: kCreate or kLink, of a name in `parent`.
Replay<CreateReply> replay_create(VolumeContext& volume, const OpContext& ctx, ChangeKind kind, FileId parent);
Replay<RemoveReply> replay_remove(VolumeContext& volume, const OpContext& ctx, FileId parent);
Replay<RenameReply> replay_rename(VolumeContext& volume, const OpContext& ctx, FileId from_parent, FileId to_parent);
Replay<SetattrReply> replay_setattr(VolumeContext& volume, const OpContext& ctx, FileId id);

}  // namespace stoa::core
