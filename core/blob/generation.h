// The number of joint starts of a volume's pieces (metadata, blob directories). Every start raises it in all of them,
// so that pieces of different times, or of two copies, can be distinguished.
#pragma once

#include <cstdint>

namespace stoa::core {

struct Generation {
  std::uint64_t number = 0;  // 0: none was started yet
  std::uint64_t nonce = 0;   // random: two copies that are started once each have the same number
  std::int64_t seconds = 0;  // time of the start, since 1970; for people
  bool operator==(const Generation& other) const { return number == other.number && nonce == other.nonce; }
};

}  // namespace stoa::core
