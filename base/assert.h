// Assertions for our own mistakes; they stay on in release builds. No byte from a client may trigger one.
#pragma once

namespace stoa {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}

#define STOA_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::stoa::assertion_failed(#condition, __FILE__, __LINE__))
