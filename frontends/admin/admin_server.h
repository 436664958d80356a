// The admin interface on a TCP port, a Unix socket, or both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "frontends/admin/phase.h"
#include "frontends/admin/service.h"

namespace stoa::admin {

struct ServerOptions {
  std::string host;         // numeric; empty: no TCP port
  std::uint16_t port = 0;   // 0: any free one
  std::string socket_path;  // empty: no Unix socket. An old socket file there is replaced.
  unsigned socket_mode = 0660;
  // Of the port, and again of the socket, so that neither blocks the other.
  unsigned threads = 4;
  ConnectionLimits limits{};
  // PEM, with the chain; both or none. The TCP port then speaks TLS 1.2 and later; the Unix socket never does.
  std::string tls_certificate_file{};
  std::string tls_key_file{};
};

// Serves from start() until it is destroyed; the destructor waits for running requests.
class AdminServer {
 public:
  // `service` must outlive the server. kInvalid, kBusy (the address is in use), kAccess.
  static Result<std::unique_ptr<AdminServer>> start(Service& service, const ServerOptions& options);
  virtual ~AdminServer() = default;
  virtual std::uint16_t port() const = 0;  // 0 without a TCP port
  virtual std::string pin() const = 0;     // of the key of the port, as in Certificate; empty without TLS

  // Shows the certificate that is in the files now, when it is another one: new connections meet it at once. Waits for
  // running requests for at most 10 s, then cuts them off. kInvalid, and it serves as before: a file cannot be used.
  // Not thread-safe.
  virtual Status renew() = 0;
};

}  // namespace stoa::admin
