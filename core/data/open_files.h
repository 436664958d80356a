// Marks of files that are written in place and therefore have no checksums: family state, "open" + id. Recorded no
// later than the first commit of such writes, so that a start after a crash knows files with bytes that may be newer
// than their record.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// At start: zeros the bytes behind the end of files that were being written. Gives them a new data version, because a
// reader may have seen other bytes under the recorded one.
Status recover_open_files(VolumeContext& volume);

}  // namespace stoa::core
