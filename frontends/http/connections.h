// The open connections of a server: their deadlines for progress, and the choice of the one that gives way when there
// are too many.
//
// A client that sends a byte now and then keeps the idle timer of the HTTP library from firing for ever; these
// deadlines do not move with single bytes. Where the table, or an address's share of it, is full, a new connection
// replaces one that is waiting for its client, so connecting alone fills no server.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/metrics.h"
#include "frontends/http/client_address.h"

namespace stoa::http {

using NanosecondClock = std::int64_t (*)();  // the steady clock; tests have their own
std::int64_t steady_now_ns();

// Written by the thread that serves it, read by the watchdog and by the thread that accepts others.
struct Connection {
  enum class Turn : std::uint8_t {
    kClient,  // between requests, in the middle of one, or taking an answer: may give way
    kServer,  // at work: never gives way
    kGone,    // was cut off; its thread has not seen it yet
  };
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  int fd = -1;
  ClientAddress client{};
  NanosecondClock clock = steady_now_ns;
  std::atomic<std::int64_t> deadline_ns{kNever};  // to be cut off, whichever side has the turn
  std::atomic<Turn> turn{Turn::kClient};
  std::atomic<std::int64_t> idle_since_ns{0};  // since when the client is slow, if it is its turn

  void allow(std::chrono::nanoseconds time) { deadline_ns.store(clock() + time.count(), std::memory_order_relaxed); }
  void allow_for_ever() { deadline_ns.store(kNever, std::memory_order_relaxed); }
  // False: the connection was cut off already, and nothing may be done for it.
  bool begin_work();
  // The client has the turn again; it is not slow for as long as `patience`.
  void end_work(std::chrono::nanoseconds patience = {});
};

struct ConnectionLimits {
  std::uint32_t connections_max;
  std::uint32_t connections_per_address_max;
};
struct ConnectionCounters {
  Counter& late;      // cut off at their deadline
  Counter& gave_way;  // cut off for others
};

// Thread-safe.
class Connections {
 public:
  // With the steady clock a thread of its own expires them, once a second.
  Connections(const ConnectionLimits& limits, const ConnectionCounters& counters,
              NanosecondClock clock = steady_now_ns);
  ~Connections();
  Connections(const Connections&) = delete;

  // Before one more is added from there. False: there is no room, and none can give way.
  bool make_room(const ClientAddress& client);
  // Without a deadline. The descriptor must stay open until remove().
  Connection* add(int fd, ClientAddress client);
  void remove(Connection* connection);
  // Cuts off all that are behind their deadline.
  void expire();
  std::size_t size() const;

 private:
  using Address = std::array<std::uint8_t, 16>;

  void watch();
  // With the lock held. `of`: one of this address; null: one of the address with the most connections.
  bool cut_an_idle_one(const Address* of);
  void cut(Connection& connection, Counter& counter);
  void leave(const Connection& connection);  // it no longer counts

  const ConnectionLimits limits_;
  const ConnectionCounters counters_;
  const NanosecondClock clock_;
  mutable std::mutex mutex_;  // guards the members below; also keeps a descriptor from being closed while it is shut
                              // down
  std::condition_variable wake_;
  std::unordered_map<const Connection*, std::unique_ptr<Connection>> open_;
  std::map<Address, std::uint32_t> by_address_;  // those that were not cut off
  std::uint32_t staying_ = 0;                    // of all addresses
  bool stop_ = false;
  std::thread watchdog_;  // last: it uses all of them
};

}  // namespace stoa::http
