// Tells the local portmapper (rpcbind, RFC 1833 section 3) which port serves a program.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace stoa::rpc {

struct PortMapping {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint16_t port = 0;
  bool udp = false;
};

// Both block for at most a few seconds. kIo: no portmapper answers at 127.0.0.1:`portmapper_port`; kExists: it refuses,
// as somebody else has registered the program.
Status register_port(const PortMapping& mapping, std::uint16_t portmapper_port = 111);
Status unregister_port(const PortMapping& mapping, std::uint16_t portmapper_port = 111);

}  // namespace stoa::rpc
