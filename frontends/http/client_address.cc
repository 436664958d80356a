#include "frontends/http/client_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace stoa::http {

std::array<std::uint8_t, 16> network_of(const std::array<std::uint8_t, 16>& address) {
  in6_addr v6;
  std::memcpy(&v6, address.data(), address.size());
  std::array<std::uint8_t, 16> network = address;
  if (!IN6_IS_ADDR_V4MAPPED(&v6)) std::memset(network.data() + 8, 0, 8);
  return network;
}

ClientAddress client_address(const sockaddr* address) {
  ClientAddress client;
  if (address != nullptr && address->sa_family == AF_INET) {
    client.bytes[10] = client.bytes[11] = 0xff;
    std::memcpy(client.bytes.data() + 12, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 4);
  } else if (address != nullptr && address->sa_family == AF_INET6) {
    std::memcpy(client.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, 16);
  } else {
    return client;
  }
  in6_addr v6;
  std::memcpy(&v6, client.bytes.data(), client.bytes.size());
  const bool v4 = IN6_IS_ADDR_V4MAPPED(&v6);
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(v4 ? AF_INET : AF_INET6, client.bytes.data() + (v4 ? 12 : 0), text, sizeof text);
  client.text = text;
  return client;
}

}  // namespace stoa::http
