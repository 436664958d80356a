// Removal of registry settings of directories that are gone: recycle policies, audit policies, QoS classes.
#pragma once

#include "core/api/registry.h"
#include "core/txn/volume_context.h"

namespace stoa::core {

// Removes such settings of directories that are gone: no path leads to them any more, but they count against limits. A
// step: each removal is a commit of its own, so a few hundred at a time. One thread at a time; blocks. Errors of the
// store.
Status forget_gone_directories(VolumeContext& volume, Registry& registry);

}  // namespace stoa::core
