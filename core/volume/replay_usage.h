// Replay of the usage log (core/usage/usage_log.h) at a start after a crash: its charges are added to their
// directories, and settled.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Before anything is charged. kCorrupt, kIo.
Status replay_usage(VolumeContext& volume);

}  // namespace stoa::core
