// Poisoning of memory that must not be read before it is written. In debug and sanitizer builds the memory has a
// recognizable pattern, and the address sanitizer reports accesses to it; in release builds all this is nothing.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define STOA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STOA_ASAN 1
#endif
#endif
#ifdef STOA_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace stoa {

inline constexpr unsigned char kPoison = 0xdb;

inline void unpoison([[maybe_unused]] std::byte* at, [[maybe_unused]] std::size_t bytes) {
#ifdef STOA_ASAN
  ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
}

inline void poison([[maybe_unused]] std::byte* at, [[maybe_unused]] std::size_t bytes) {
#ifndef NDEBUG
  unpoison(at, bytes);
  if (bytes > 0) std::memset(at, kPoison, bytes);
#endif
#ifdef STOA_ASAN
  ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
}

}  // namespace stoa
