// Assertion for states that damage of a volume can cause: no reason to end a server in use, because the verifier
// reports them. Only in builds without NDEBUG (debug, asan, tsan).
#pragma once

#include "base/assert.h"

#ifdef NDEBUG
#define STOA_DEBUG_ASSERT(condition, ...) static_cast<void>(sizeof((condition) ? 1 : 0))
#else
#define STOA_DEBUG_ASSERT(condition, ...) STOA_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
