// Taking things out of a bin again.
#pragma once

#include "core/api/recycle.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// Callers that may restore from the bin, by its present policy.
Result<RestoreRight> restore_right(VolumeContext& volume, const OpContext& ctx, FileId bin);

// rename() of `raw` out of a user's directory in the bin: the same, to the name that the request gives. An existing
// file of that name is not replaced: kExists.
Result<RenameReply> restore_by_rename(VolumeContext&, const OpContext&, const RenameRequest&, FileId bin,
                                      std::string_view raw);

}  // namespace stoa::core
