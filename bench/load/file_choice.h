// Choice and names of files: the same seed gives the same choices on every server.
#pragma once

#include <cstdint>

namespace stoa::bench {

inline constexpr unsigned kFileNameBytes = 9;  // "f" and eight digits

// By hand, as snprintf would cost more than the encoding of the call.
inline char* write_file_name(char* at, std::uint64_t index) {
  *at++ = 'f';
  for (std::uint64_t unit = 10'000'000; unit > 0; unit /= 10) *at++ = static_cast<char>('0' + index / unit % 10);
  return at;
}

// SplitMix64.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace stoa::bench
