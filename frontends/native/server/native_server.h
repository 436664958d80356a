// The server of the native protocol over TCP, on the core's API.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "core/api/namespace.h"
#include "core/api/registry.h"
#include "core/api/state.h"
#include "frontends/native/server/host_keys.h"
#include "frontends/tls/context.h"
#include "frontends/wire/limits.h"
#include "qos/scheduler.h"

namespace stoa::native {

struct NativeServerOptions {
  std::string address = "127.0.0.1";  // numeric; "::" takes IPv4 as well
  std::uint16_t port = 2052;          // 0: any free one
  std::uint32_t workers = 0;          // threads; 0: chosen by the machine
  wire::ServerLimits limits{};
  qos::Scheduler* scheduler =
      nullptr;                     // of the registry's QoS classes; null: nobody is held back. Must outlive the server
  std::chrono::seconds lease{90};  // so long a session may be silent
  std::shared_ptr<const tls::Context> tls{};  // null: none is offered
  bool tls_required = false;                  // refuses clients without; needs `tls`
  std::string keytab{};                       // Kerberos keys of stoa/HOST or nfs/HOST; empty: keys only are taken
};

// A client as administrators see it.
struct NativeClientStatus {
  core::HolderId id{};  // as long as the session lives, and never another's
  std::string address;
  std::string name;  // whose key it has shown
  core::HeldCounts held;
  std::chrono::seconds silent{};
};

class NativeServer {
 public:
  // Listens and serves from now on; everything passed must outlive the server. Errors: kInvalid (the address, the
  // keytab), kIo (the port is taken).
  static Result<std::unique_ptr<NativeServer>> start(const NativeServerOptions& options, core::Namespace& ns,
                                                     core::StateTable& state, core::Registry& registry,
                                                     const HostKeys& host_keys, MetricRegistry& metrics);
  ~NativeServer();  // stop()
  NativeServer(const NativeServer&) = delete;

  std::uint16_t port() const;
  std::vector<NativeClientStatus> clients() const;
  // Ends the client's session and all that it holds, for good: after a restart it may not reclaim it. The client may
  // log in again, and is told that what it held is lost. kNotFound.
  Status evict(core::HolderId client);

  // Connections that come from now on are shown this certificate. Only for a server that was started with one.
  void renew(std::shared_ptr<const tls::Context> tls);

  // Takes no new messages, finishes those that run and sends their replies. False: some were left when time was up.
  bool drain(std::chrono::milliseconds patience);
  // Closes all connections. Idempotent. Clients that lost a reply ask the next server.
  void stop();

 private:
  struct Parts;
  explicit NativeServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace stoa::native
