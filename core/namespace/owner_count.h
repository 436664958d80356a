// Counting of usage by user and group in directories that had content when it was requested (CountOwnersRequest).
//
// One scan over all files of the volume, in the order of their ids, serves all directories that wait for it together;
// later requests wait for the next scan. Each file is counted, on both sides of the ledger, while nothing changes: a
// few hundred under the exclusive tree lock, which all charges are made under. From then on its charges count for its
// owner, and those of files made meanwhile always do, so that the end of the scan is fixed. Partial counts are not
// stored: the record of a directory says that it is being counted, and a start begins anew.
#pragma once

#include <cstdint>
#include <optional>

#include "core/txn/volume_context.h"

namespace stoa::qos {
class BackgroundThrottle;
}

namespace stoa::core {

// Looks at up to `files_max` more files. The number of those looked at; none: no directory waits any more.
Result<std::optional<std::uint64_t>> count_more_owners(VolumeContext& volume, std::size_t files_max);
// Until no directory waits any more, or `throttle` is stopped.
Status count_all_owners(VolumeContext& volume, qos::BackgroundThrottle& throttle);

}  // namespace stoa::core
