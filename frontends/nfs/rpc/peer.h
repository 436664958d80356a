// Who is at the other end of a socket, and how to get there.
#pragma once

#include <sys/socket.h>

#include "frontends/nfs/rpc/program.h"

namespace stoa::rpc {

Peer peer_of(const sockaddr_storage& from);

// Of addresses as Peer::address.
bool is_ipv4(const std::array<std::uint8_t, 16>& address);
// Whose limits it counts for: an IPv4 address, or the /64 of an IPv6 address, which is one host's.
std::array<std::uint8_t, 16> host_of(const std::array<std::uint8_t, 16>& address);
std::string address_text(const std::array<std::uint8_t, 16>& address);
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
SocketAddress socket_address(const std::array<std::uint8_t, 16>& address, std::uint16_t port);

}  // namespace stoa::rpc
