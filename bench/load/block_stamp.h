// Marks in the content of files: the first eight bytes of each 4 KiB name their place. So a reader notices a block in
// the wrong place without the cost of checking all of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "bench/load/file_choice.h"

namespace stoa::bench {

inline constexpr std::size_t kStampEvery = 4096;

inline std::uint64_t stamp_of(std::uint64_t offset) {
  return mix(offset / kStampEvery);
}

// `offset` of the file and `bytes` are multiples of 4 KiB.
inline void stamp(char* data, std::size_t bytes, std::uint64_t offset) {
  for (std::size_t at = 0; at + kStampEvery <= bytes; at += kStampEvery) {
    const std::uint64_t value = stamp_of(offset + at);
    std::memcpy(data + at, &value, sizeof value);
  }
}

inline bool is_stamped(const char* data, std::size_t bytes, std::uint64_t offset) {
  for (std::size_t at = 0; at + kStampEvery <= bytes; at += kStampEvery) {
    std::uint64_t value = 0;
    std::memcpy(&value, data + at, sizeof value);
    if (value != stamp_of(offset + at)) return false;
  }
  return true;
}

}  // namespace stoa::bench
