// Rate limit for denials of one client in the journal, so that refused requests cannot fill it.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/api/context.h"

namespace stoa::core {

// Thread-safe. Times are of the steady clock, passed by the caller.
class DenialLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::uint32_t kPerSecond = 20;   // of one client
  static constexpr std::size_t kClientsMax = 1024;  // listed separately; further ones share one allowance
  static constexpr std::string_view kOthers = "others";

  enum class Verdict : std::uint8_t {
    kRecord,      // it may be recorded
    kCount,       // it was counted instead
    kFirstCount,  // the same, as the first of this client since take(): wakes the thread that waits for due()
  };
  Verdict admit(const std::string& client, Protocol protocol, Time now);

  struct Omitted {
    std::string client;
    Protocol protocol;
    std::uint64_t count;
  };
  // The numbers omitted in past seconds, which end with this call.
  std::vector<Omitted> take(Time now);
  // The time at which take() has a result; absent: nothing was omitted.
  std::optional<Time> due();

 private:
  struct Client {
    Time since;
    std::uint32_t admitted = 0;
    std::uint64_t omitted = 0;
    Protocol protocol = Protocol::kInternal;
  };
  static constexpr std::chrono::seconds kPeriod{1};

  std::mutex mutex_;  // guards the map
  std::unordered_map<std::string, Client> clients_;
};

}  // namespace stoa::core
