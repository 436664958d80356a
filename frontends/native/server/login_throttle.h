// What wrong keys cost: an address that fails again and again is not looked at for a while.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>

namespace stoa::native {

// Thread-safe, never blocks.
class LoginThrottle {
 public:
  using Address = std::array<std::uint8_t, 16>;
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::uint32_t kFreeFailures = 5;      // in a row
  static constexpr std::chrono::seconds kDelayFirst{1};  // twice as long with each failure more
  static constexpr std::chrono::seconds kDelayMax{60};
  static constexpr std::chrono::seconds kForgotten{300};  // after so long without a failure
  static constexpr std::size_t kAddressesMax = 4096;

  // How long this host has to wait; zero: it may try.
  std::chrono::milliseconds wait(const Address& host, Time now);
  void failed(const Address& host, Time now);
  void succeeded(const Address& host);

 private:
  struct Known {
    std::uint32_t failures = 0;
    Time last{}, until{};
  };
  std::mutex mutex_;  // guards known_
  std::map<Address, Known> known_;
};

}  // namespace stoa::native
