// The admin interface on a TCP port, a Unix socket, or both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "frontends/admin/service.h"

namespace stoa::admin {

struct ServerOptions {
  std::string host;         // numeric; empty: no TCP port
  std::uint16_t port = 0;   // 0: any free one
  std::string socket_path;  // empty: no Unix socket. An old socket file there is replaced.
  unsigned socket_mode = 0660;
  unsigned threads = 2;
  unsigned connections_max = 64;
  unsigned idle_seconds = 30;
};

// Serves from start() until it is destroyed; the destructor waits for requests under way.
class AdminServer {
 public:
  // `service` must outlive the server. kInvalid, kBusy (the address is in use), kAccess.
  static Result<std::unique_ptr<AdminServer>> start(Service& service, const ServerOptions& options);
  virtual ~AdminServer() = default;
  virtual std::uint16_t port() const = 0;  // 0 without a TCP port
};

}  // namespace stoa::admin
