// The NFS server: NFS versions 3 and 4 (4.0, 4.1 and 4.2), MOUNT version 3, over TCP, on the core's API. The locks of
// version 3 are NLM version 4 and NSM version 1. All programs are answered on both ports. Clients find NLM and NSM by
// the portmapper alone: when ports are registered, these two are answered over UDP, too, on the port of the same
// number.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "core/api/file_handle.h"
#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "core/api/state.h"
#include "frontends/nfs/client_status.h"
#include "frontends/nfs/rpc/server.h"
#include "frontends/nfs/v4/stateid_limits.h"

namespace stoa::nfs {

struct NfsServerOptions {
  std::string address = "127.0.0.1";        // numeric; "::" takes IPv4 as well
  std::uint16_t port = 2049;                // 0: any free one
  std::optional<std::uint16_t> mount_port;  // a second port, for clients that expect MOUNT on a port of its own
  std::uint32_t workers = 0;                // threads; 0: chosen by the machine
  rpc::ServerLimits limits{};
  rpc::DuplicateCacheOptions duplicates{};
  std::string keytab{};                   // keys of nfs/HOST for Kerberos; empty: none, and only AUTH_SYS is taken
  std::string id_domain = "localdomain";  // of user@domain in NFS version 4
  bool register_ports = false;            // tell the portmapper at 127.0.0.1:portmapper_port
  std::uint16_t portmapper_port = 111;
  std::uint16_t client_portmapper_port = 111;  // of clients, for calls to their lock managers and status monitors
  qos::Scheduler* scheduler = nullptr;  // of the registry's QoS classes; null: no request is held back. Must outlive
                                        // the server
  std::chrono::seconds lease{90};       // of clients of version 4
  std::function<std::chrono::steady_clock::time_point()> lease_clock{};  // for tests of leases
  nfs4::StateidLimits stateids{};
};

class NfsServer {
 public:
  // Listens and serves from now on; everything passed must outlive the server. Errors: kInvalid (an address, the
  // keytab), kIo (a port is taken, no portmapper answers), kExists (the portmapper knows another NFS server).
  static Result<std::unique_ptr<NfsServer>> start(const NfsServerOptions& options, core::Namespace& ns,
                                                  core::StateTable& state, core::Registry& registry,
                                                  const core::HandleCodec& handles, MetricRegistry& metrics);
  ~NfsServer();  // stop()
  NfsServer(const NfsServer&) = delete;

  std::uint16_t port() const;
  std::uint16_t mount_port() const;  // port() unless there is a second one

  // The clients of all versions that have, or may have, opens, locks or delegations.
  std::vector<ClientStatus> clients() const;
  // Revokes all state of a client, for good: it may not be reclaimed after a restart either. The client itself may go
  // on; one of NFSv4 gets an error. Blocks for a durable write. kNotFound: no such client (any more); errors of the
  // store: the client may reclaim after a restart.
  Status evict(core::HolderId client);

  // Takes no new calls, finishes running ones and sends their replies. False: some were left when time was up.
  bool drain(std::chrono::milliseconds patience);
  // Closes all connections. Idempotent. Clients that lost a reply ask the next server.
  void stop();

 private:
  struct Parts;
  explicit NfsServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace stoa::nfs
