// Rate limits for tokens and client addresses, and the cost of wrong tokens.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stoa::admin {

struct ThrottleLimits {
  double requests_per_second = 50;  // of a token, or of an address without one
  double requests_burst = 100;
  double failures_per_second = 5;  // wrong tokens of an address
  double failures_burst = 5;
  // Beyond that, wrong tokens are not looked at for so long; each time twice as long, until the address was quiet for
  // failures_forgotten.
  std::chrono::seconds delay_first{1};
  std::chrono::seconds delay_max{60};
  std::chrono::seconds failures_forgotten{300};
  std::size_t known_max = 4096;  // tokens and addresses in the table; a new one evicts the one idle for longest
};

// Thread-safe, never blocks: returns the time that the caller has to wait.
class Throttle {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Wait = std::chrono::nanoseconds;  // zero: go on

  explicit Throttle(const ThrottleLimits& limits = {}) : limits_(limits) {}

  // One request more of a token ("token:NAME") or an address ("address:…"; see address_key()).
  Wait admit(std::string_view who, Time now);
  // One wrong token more from this address.
  Wait fail(std::string_view address, Time now);

  std::size_t known() const;

 private:
  struct Bucket {
    double tokens = 0;
    Time at{};
    void refill(double rate, double burst, Time now);
  };
  struct Known {
    std::string who;
    Bucket requests;
    Bucket failures;
    Time delayed_until{};
    Time failed_last{};
    unsigned delays = 0;
  };

  Known& know(std::string_view who, Time now);

  const ThrottleLimits limits_;
  mutable std::mutex mutex_;  // guards the members below; held for one look
  std::list<Known> known_;    // the one heard of last first
  std::unordered_map<std::string_view, std::list<Known>::iterator> by_name_;
};

// The part of an address that one client cannot change at will: all of IPv4, the first 64 bits of IPv6.
std::string address_key(std::string_view address);

}  // namespace stoa::admin
