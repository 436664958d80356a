// The listening socket of a protocol.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace stoa::s3 {

struct Listener {
  int fd = -1;
  std::uint16_t port = 0;
  bool ipv6 = false;
};

// Binds and listens. kInvalid: no address. kIo: the system's reason.
Result<Listener> listen_on(const std::string& address, std::uint16_t port);

}  // namespace stoa::s3
