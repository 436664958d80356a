// A socket bound to the address of a server.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace stoa::wire {

struct Endpoint {
  std::string address = "127.0.0.1";  // numeric; "::" takes IPv4 as well
  std::uint16_t port = 0;             // 0: any free one
};

struct Listener {
  int fd = -1;
  std::uint16_t port = 0;
};

// Non-blocking; closed by the caller. kInvalid: a malformed address; else the errors of socket(2), bind(2),
// listen(2). The message names the address and the port.
Result<Listener> listen_tcp(const Endpoint& endpoint);
Result<Listener> bind_udp(const Endpoint& endpoint);

}  // namespace stoa::wire
