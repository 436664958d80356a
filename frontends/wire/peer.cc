#include "frontends/wire/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace stoa::wire {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

bool is_ipv4(const std::array<std::uint8_t, 16>& address) {
  return std::ranges::equal(kMapped, std::span(address).first<12>());
}

std::array<std::uint8_t, 16> host_of(const std::array<std::uint8_t, 16>& address) {
  std::array<std::uint8_t, 16> host = address;
  if (!is_ipv4(address)) std::ranges::fill(std::span(host).last(8), std::uint8_t{0});
  return host;
}

std::string address_text(const std::array<std::uint8_t, 16>& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (is_ipv4(address)) {
    inet_ntop(AF_INET, address.data() + kMapped.size(), text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.data(), text, sizeof text);
  }
  return text;
}

Peer peer_of(const sockaddr_storage& from) {
  Peer peer;
  if (from.ss_family == AF_INET) {
    std::ranges::copy(kMapped, peer.address.begin());
    std::memcpy(peer.address.data() + kMapped.size(), &reinterpret_cast<const sockaddr_in&>(from).sin_addr, 4);
  } else if (from.ss_family == AF_INET6) {
    std::memcpy(peer.address.data(), &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, 16);
  }
  peer.text = address_text(peer.address);
  return peer;
}

SocketAddress socket_address(const std::array<std::uint8_t, 16>& address, std::uint16_t port) {
  SocketAddress made;
  if (is_ipv4(address)) {
    auto& to = reinterpret_cast<sockaddr_in&>(made.storage);
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    std::memcpy(&to.sin_addr, address.data() + kMapped.size(), sizeof to.sin_addr);
    made.bytes = sizeof to;
  } else {
    auto& to = reinterpret_cast<sockaddr_in6&>(made.storage);
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(port);
    std::memcpy(&to.sin6_addr, address.data(), sizeof to.sin6_addr);
    made.bytes = sizeof to;
  }
  return made;
}

}  // namespace stoa::wire
