// The open connections, by when each must have got on, and which of them gives way when there are too many.
//
// A client that dribbles bytes keeps the HTTP library's idle timer from firing for ever; these deadlines do not move
// with single bytes. And where the table, or an address's share of it, is full, a new connection takes the place of one
// that does nothing for anybody: so nobody fills the protocol by connecting alone.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>

#include "frontends/s3/options.h"
#include "frontends/s3/server_metrics.h"

struct sockaddr;

namespace stoa::s3 {

// Written by the connection's own thread, read by the watchdog and by who accepts others.
struct Connection {
  // kIdle: between requests, in the middle of a header, or sending what was refused.
  enum class Use : std::uint8_t { kIdle, kBusy, kGone };

  int fd = -1;
  std::array<std::uint8_t, 16> address{};    // IPv4 mapped
  std::string client;                        // the same as text
  std::atomic<std::int64_t> deadline_ns{0};  // of the steady clock
  std::uint64_t body_bytes_since = 0;        // since the deadline was last moved

  std::atomic<Use> use{Use::kIdle};
  std::atomic<std::int64_t> idle_since_ns{0};

  void allow(std::uint64_t seconds);
  // A request is to be served. False: the connection has given way already, and nothing may be done for it.
  bool begin_work();
  void end_work();
};

std::int64_t steady_now_ns();

class Connections {
 public:
  Connections(const Limits& limits, ServerMetrics& metrics);
  ~Connections();

  // Whether one more may come from there. Another may have been closed for it.
  bool make_room(const sockaddr* address);
  Connection* add(int fd, const sockaddr* address);
  void remove(Connection* connection);

 private:
  using Address = std::array<std::uint8_t, 16>;

  void watch();
  // With the lock held. `of`: one of this address; null: one of the address that has most.
  bool close_an_idle_one(const Address* of);
  void leave(const Connection& connection);  // it no longer counts

  const Limits& limits_;
  ServerMetrics& metrics_;
  std::mutex
      mutex_;  // guards open_, by_address_ and stop_; also keeps a descriptor from being closed while it is shut down
  std::condition_variable wake_;
  std::unordered_set<Connection*> open_;
  std::map<Address, std::uint32_t> by_address_;  // those that have not given way
  std::uint32_t staying_ = 0;                    // of all addresses
  bool stop_ = false;
  std::thread watchdog_;
};

}  // namespace stoa::s3
