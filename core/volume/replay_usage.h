// A start after a crash: what the usage log (core/usage/usage_log.h) says is added to the directories that it concerns,
// and settled.
#pragma once

#include "core/txn/tree.h"

namespace stoa::core {

// Before anything is charged. kCorrupt, kIo.
Status replay_usage(Tree& tree);

}  // namespace stoa::core
