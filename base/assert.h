// Assertions for our own mistakes; they stay on in release builds. No byte from a client may trigger one.
#pragma once

namespace stoa {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}

// The second argument is optional: a literal that names the broken invariant.
#define STOA_ASSERT(condition, ...) \
  (static_cast<bool>(condition)     \
       ? void(0)                    \
       : ::stoa::assertion_failed(#condition __VA_OPT__(", that is: " __VA_ARGS__), __FILE__, __LINE__))
