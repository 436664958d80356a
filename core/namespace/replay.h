// The answer to a retransmitted request that was executed before the restart (core/journal/finished_requests.h): the
// reply for the present state of the files. Absent: it was not executed, and must run. kStale: the file that it made is
// gone again.
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
