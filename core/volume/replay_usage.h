// A start after a crash: what the usage log (core/usage/usage_log.h) says is added to the directories that it concerns,
// and settled.
#pragma once

#include "core/txn/volume_context.h"

namespace stoa::core {

// Before anything is charged. kCorrupt, kIo.
Status replay_usage(VolumeContext& volume);

}  // namespace stoa::core
