// A small generator (splitmix64) with the same sequence everywhere, so that a printed seed is a reproduction.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace stoa::model {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
  bool percent(unsigned chance) { return below(100) < chance; }
  template <class Range>
  const auto& pick(const Range& range) {
    return range[below(std::size(range))];
  }
  std::string bytes(std::size_t count) {
    std::string out(count, '\0');
    for (std::size_t i = 0; i < count; i += 8) {
      std::uint64_t word = next() | 0x0101010101010101;  // Never zero, so that a lost byte is seen.
      for (std::size_t j = i; j < std::min(count, i + 8); ++j, word >>= 8) out[j] = static_cast<char>(word);
    }
    return out;
  }

 private:
  std::uint64_t state_;
};

}  // namespace stoa::model
