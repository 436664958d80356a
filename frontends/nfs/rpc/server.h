// An ONC RPC server on TCP, over frontends/wire.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "core/api/state.h"
#include "frontends/nfs/rpc/duplicate_cache.h"
#include "frontends/nfs/rpc/gss_contexts.h"
#include "frontends/nfs/rpc/program.h"
#include "frontends/nfs/rpc/record_mark.h"
#include "frontends/wire/limits.h"
#include "qos/scheduler.h"

namespace stoa::rpc {

using wire::Endpoint;
using wire::ServerLimits;

struct ServerOptions {
  std::vector<Endpoint> listen{Endpoint{}};
  std::uint32_t workers = 0;  // 0: enough to keep many syncs in flight
  ServerLimits limits{};
  DuplicateCacheOptions duplicates{};
  GssLimits gss{};
};

// The programs of the server, and their surroundings.
struct Service {
  Programs programs;
  std::function<Status(const core::PendingDurability&)> sync;  // core::Namespace::sync()
  PayloadOffset payload_offset = nullptr;
  qos::Scheduler* scheduler = nullptr;  // admits calls; null: no call is held back. Must outlive the server
  core::StateTable* state = nullptr;    // whose recalls calls wait for; null: none does. Must outlive the server
  GssMechanism* gss = nullptr;          // null: calls with RPCSEC_GSS are denied. Must outlive the server
  // Called, by the serving thread, for each client that fails authentication: its credential, as "RPCSEC_GSS token",
  // and the reason. Not for expired contexts, which clients renew. Null: not reported.
  std::function<void(const Peer& peer, std::string_view request, std::string_view reason)> report_refused = nullptr;
};

class Server {
 public:
  // Binds, starts the workers. `metrics` and the programs must outlive the server. kInvalid: a malformed address; kIo:
  // a port is taken.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Service service, MetricRegistry& metrics);
  ~Server();  // stop()

  // Bound ports, in the order of ServerOptions::listen.
  std::vector<std::uint16_t> ports() const;
  // Whether a connection from this address is open. Thread-safe.
  bool connected(const std::array<std::uint8_t, 16>& address) const;

  // Accepts and reads nothing more, finishes running calls and sends their replies. False: some were left when time was
  // up.
  bool drain(std::chrono::milliseconds patience);
  // Closes all connections and ends the workers. Idempotent.
  void stop();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace stoa::rpc
