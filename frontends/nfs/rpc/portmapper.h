// Registration at the local portmapper (rpcbind, RFC 1833 section 3) of the port that serves a program.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace stoa::rpc {

// Version 2 knows IPv4 alone, version 3 (rpcbind) any network.
inline constexpr std::uint32_t kPortmapProgram = 100000;
inline constexpr std::uint32_t kPortmapVersion = 2;
inline constexpr std::uint32_t kRpcbindVersion = 3;

struct PortMapping {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint16_t port = 0;
  bool udp = false;
  // Over IPv6: the universal address where it is served (universal_address.h), which names the port, too; `port` counts
  // for nothing then. Empty: over IPv4.
  std::string ipv6{};
};

// Both block for at most a few seconds. kIo: no portmapper answers at 127.0.0.1:`portmapper_port`; kExists: it refuses,
// because another process has registered the program.
Status register_port(const PortMapping& mapping, std::uint16_t portmapper_port = 111);
Status unregister_port(const PortMapping& mapping, std::uint16_t portmapper_port = 111);

}  // namespace stoa::rpc
