// The address of a client.
#pragma once

#include <array>
#include <cstdint>
#include <string>

struct sockaddr;

namespace stoa::http {

struct ClientAddress {
  std::array<std::uint8_t, 16> bytes{};  // IPv4 as ::ffff:a.b.c.d
  std::string text;                      // IPv4 in dotted form; empty: not of an IP network
};

// The network of an address: an IPv4 address, or the /64 of an IPv6 address.
std::array<std::uint8_t, 16> network_of(const std::array<std::uint8_t, 16>& address);

// `address` may be null.
ClientAddress client_address(const sockaddr* address);

}  // namespace stoa::http
