// The open connections of one port, by when each must have got on, and which of them gives way when there are too many.
// A client that sends a byte now and then keeps the idle timer of the HTTP library from firing for ever; these
// deadlines do not move with single bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/metrics.h"

namespace stoa::admin {

struct ConnectionLimits {
  std::size_t connections_max = 64;
  std::chrono::seconds idle{30};     // from the last answer, or the beginning, to the end of a request line
  std::chrono::seconds headers{10};  // from there to the end of the headers
  std::chrono::seconds body{60};     // from there to the end of the body (1 MiB)
  std::chrono::seconds answer{120};  // from the answer to the last byte of it that the client has taken
};

// Thread-safe. Times are given, so that tests need not wait.
class Connections {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Phase : std::uint8_t {
    kFresh,      // nothing was asked yet
    kIdle,       // answered, and may ask again
    kHeaders,    // of a request
    kBody,       // of a request
    kAtWork,     // the server's turn: has no deadline, and never gives way
    kStreaming,  // an answer without an end: the same
    kAnswer,     // is on its way
  };
  struct Connection {
    int fd;
    std::string address;  // address_key()
    Phase phase = Phase::kFresh;
    Time since{};
    bool cut = false;
  };

  Connections(const ConnectionLimits& limits, MetricRegistry& metrics);

  // When there are connections_max already, one gives way: of the address that has the most, the one that has
  // overstayed most. The descriptor must stay open until remove().
  Connection* add(int fd, std::string address, Time now);
  void enter(Connection* connection, Phase phase, Time now);
  void remove(Connection* connection);
  // Cuts off all that are behind their deadline.
  void expire(Time now);
  std::size_t size() const;

 private:
  std::chrono::seconds deadline_of(Phase phase) const;
  void cut(Connection& connection, Counter& counter);
  void make_room(Time now);

  const ConnectionLimits limits_;
  Counter& late_;
  Counter& gave_way_;
  mutable std::mutex mutex_;  // guards what follows; also keeps a descriptor from being closed while it is shut down
  std::unordered_map<const Connection*, std::unique_ptr<Connection>> open_;
};

}  // namespace stoa::admin
