// The other end of a socket: its address, as text and for connect(2).
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

namespace stoa::wire {

struct Peer {
  std::array<std::uint8_t, 16> address{};  // IPv4 as ::ffff:a.b.c.d
  std::string text;                        // for the log and the journal
};

Peer peer_of(const sockaddr_storage& from);

// Of addresses as Peer::address.
bool is_ipv4(const std::array<std::uint8_t, 16>& address);
// The host that limits count it for: an IPv4 address, or the /64 of an IPv6 address, which is one
// host's.
std::array<std::uint8_t, 16> host_of(const std::array<std::uint8_t, 16>& address);
std::string address_text(const std::array<std::uint8_t, 16>& address);
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
SocketAddress socket_address(const std::array<std::uint8_t, 16>& address, std::uint16_t port);

}  // namespace stoa::wire
