// An assertion on what may be wrong on a damaged volume: no reason to end a server that is in use, as the verifier
// tells it. Only in builds without NDEBUG (debug, asan, tsan).
#pragma once

#include "base/assert.h"

#ifdef NDEBUG
#define STOA_DEBUG_ASSERT(condition, ...) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define STOA_DEBUG_ASSERT(condition, ...) STOA_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
