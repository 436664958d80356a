// The open connections and by when each must have got on. A client that dribbles bytes keeps the HTTP library's idle
// timer from firing for ever; these deadlines do not move with single bytes.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>

#include "base/metrics.h"
#include "frontends/s3/options.h"

struct sockaddr;

namespace stoa::s3 {

// Written by the connection's own thread, read by the watchdog.
struct Connection {
  int fd = -1;
  std::array<std::uint8_t, 16> address{};  // IPv4 mapped
  std::string client;                      // the same as text
  std::atomic<std::int64_t> deadline_ns{0};  // of the steady clock
  std::uint64_t body_bytes_since = 0;        // since the deadline was last moved

  void allow(std::uint64_t seconds);
};

std::int64_t steady_now_ns();

class Connections {
 public:
  Connections(const Limits& limits, Counter& timeouts, Gauge& open);
  ~Connections();

  Connection* add(int fd, const sockaddr* address);
  void remove(Connection* connection);
  std::size_t size() const;

 private:
  void watch();

  const Limits& limits_;
  Counter& timeouts_;
  Gauge& gauge_;
  mutable std::mutex mutex_;  // guards open_ and stop_; also keeps a descriptor from being closed while it is shut down
  std::condition_variable wake_;
  std::unordered_set<Connection*> open_;
  bool stop_ = false;
  std::thread watchdog_;
};

}  // namespace stoa::s3
