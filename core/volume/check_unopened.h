// The verifier for a volume that is not opened, because it is damaged: nothing is replayed, and nothing
// changes.
#pragma once

#include "core/volume/volume.h"

namespace stoa::core {

Result<CheckReport> check_unopened(KvStore& kv, BlobStore& blobs, MetricRegistry& metrics,
                                   const VolumeOptions& volume_options, const CheckOptions& options);

}  // namespace stoa::core
