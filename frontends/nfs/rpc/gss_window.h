// The sequence window of a security context (RFC 2203 5.3.3.1): each number is taken once, in any order within the
// window.
#pragma once

#include <bitset>
#include <cstdint>

namespace stoa::rpc {

class GssWindow {
 public:
  static constexpr std::uint32_t kSize = 128;

  // False: seen before, or too old to tell.
  bool take(std::uint32_t sequence) {
    if (sequence > newest_) {
      const std::uint32_t ahead = sequence - newest_;
      seen_ = ahead < kSize ? seen_ << ahead : std::bitset<kSize>{};
      newest_ = sequence;
    }
    const std::uint32_t age = newest_ - sequence;
    if (age >= kSize || seen_[age]) return false;
    seen_[age] = true;
    return true;
  }

 private:
  std::uint32_t newest_ = 0;
  std::bitset<kSize> seen_;  // by distance from the newest
};

}  // namespace stoa::rpc
