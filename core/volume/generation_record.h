// The metadata's record of the blob directories that belong to them: key "generation" of family config. Read and
// written while no volume is open on the store.
#pragma once

#include <optional>

#include "core/blob/generation.h"
#include "core/kv/kv_store.h"
#include "core/volume/volume.h"

namespace stoa::core {

// Absent: no volume is in there. kCorrupt, kNotSupported, kIo.
Result<std::optional<VolumeInfo>> read_volume_info(KvReader& kv);
// Number 0 before the first start.
Result<Generation> read_generation(KvReader& kv);
// Durable on return.
Status write_generation(KvStore& kv, const Generation& generation);

}  // namespace stoa::core
