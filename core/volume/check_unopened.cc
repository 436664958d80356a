#include "core/volume/check_unopened.h"

#include "core/data/adoption.h"
#include "core/verify/check.h"
#include "core/volume/opened_tree.h"

namespace stoa::core {

Result<CheckReport> check_unopened(KvStore& kv, BlobStore& blobs, MetricRegistry& metrics,
                                   const VolumeOptions& volume_options, const CheckOptions& options) {
  OpenedTree opened(kv, blobs, metrics, volume_options, /*next_journal=*/1, /*next_id=*/kFirstFreeId);
  adopt_readable(opened.volume);
  return check_volume(opened.volume, options);
}

}  // namespace stoa::core
