// An ONC RPC server on TCP: leader/followers workers that share one epoll.
//
// The worker that wakes takes all calls that one receive brought. Those answered from memory are run in place and their
// replies leave in one write. Those that change metadata are run in place too and wait for one sync together; before it
// waits, the worker gives the connection back, so that followers serve what comes next. Heavy calls go to followers, so
// that one connection's calls run side by side and their replies leave in any order.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "frontends/nfs/rpc/duplicate_cache.h"
#include "frontends/nfs/rpc/gss_contexts.h"
#include "frontends/nfs/rpc/listener.h"
#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/rpc/receiver.h"
#include "qos/scheduler.h"

namespace stoa::rpc {

// Reaching any of these hurts the connection or the address that reached it, nobody else; each has a metric.
struct ServerLimits {
  // A new connection takes the place of one on which nothing is under way; it is refused when there is none.
  std::uint32_t connections_max = 1024;
  std::uint32_t connections_per_address_max = 256;
  std::size_t record_bytes_max = RecordPool::kRecordBytesMax;  // a longer record closes the connection
  std::size_t record_fragments_max = 1024;                     // more close the connection
  std::uint64_t record_memory_max = std::uint64_t{256} << 20;  // of large records; beyond it reading waits
  std::uint64_t record_memory_per_address_max = std::uint64_t{128} << 20;
  // Of those, of which a part has not come yet; beyond it no further one is begun, and the oldest of them give way.
  std::uint64_t half_sent_memory_max = std::uint64_t{64} << 20;
  std::uint64_t half_sent_memory_per_address_max = std::uint64_t{32} << 20;
  std::uint32_t in_flight_per_connection_max = 64;  // calls handed to followers; beyond it reading waits
  std::uint32_t in_flight_max = 2048;               // of all connections; beyond it each has one
  std::uint64_t output_per_connection_max = std::uint64_t{8} << 20;  // unsent replies; beyond it reading waits
  std::uint64_t output_max = std::uint64_t{128} << 20;
  std::chrono::seconds record_timeout{60};     // from the first to the last byte of a record
  std::chrono::seconds half_sent_patience{5};  // the same, while others wait for the memory or the connection
  std::chrono::seconds output_timeout{60};     // the peer takes none of its replies
  std::chrono::seconds idle_timeout{3600};     // no call at all
};

struct ServerOptions {
  std::vector<Endpoint> listen{Endpoint{}};
  std::uint32_t workers = 0;  // 0: enough to keep many syncs in flight
  ServerLimits limits{};
  DuplicateCacheOptions duplicates{};
  GssLimits gss{};
};

// What the server carries.
struct Service {
  std::vector<Program*> programs;
  std::function<std::unique_ptr<WorkerScope>()> make_scope;
  std::function<Status(const core::PendingDurability&)> settle;  // core::Namespace::sync()
  PayloadOffset payload_offset = nullptr;
  qos::Scheduler* scheduler = nullptr;  // where calls pay; null: nobody is held back. Must outlive the server
  GssMechanism* gss = nullptr;          // null: calls with RPCSEC_GSS are denied. Must outlive the server
  // Told, by the thread that serves it, of each client that does not show well who it is: what it came with, as
  // "RPCSEC_GSS token", and what is wrong with that. Not of contexts that have come to their end, which clients make
  // anew. Null: nobody is told.
  std::function<void(const Peer& peer, std::string_view request, std::string_view reason)> tell_refused = nullptr;
};

struct ServerState;

class Server {
 public:
  // Binds, starts the workers. `metrics` and the programs must outlive the server. kInvalid: an address; kIo: a port is
  // taken.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Service service, MetricRegistry& metrics);
  ~Server();  // stop()

  // Bound ports, in the order of ServerOptions::listen.
  std::vector<std::uint16_t> ports() const;
  // Whether somebody at this address has a connection open. Thread-safe.
  bool connected(const std::array<std::uint8_t, 16>& address) const;

  // Accepts and reads nothing more, finishes what runs and sends its replies. False: some was left when time was up.
  bool drain(std::chrono::milliseconds patience);
  // Closes all connections and ends the workers. Idempotent.
  void stop();

 private:
  explicit Server(std::unique_ptr<ServerState> state);
  std::unique_ptr<ServerState> state_;
};

}  // namespace stoa::rpc
