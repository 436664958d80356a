#include "frontends/nfs/rpc/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

namespace stoa::rpc {

Peer peer_of(const sockaddr_storage& from) {
  Peer peer;
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(from);
    peer.address[10] = peer.address[11] = 0xff;
    std::memcpy(peer.address.data() + 12, &v4.sin_addr, 4);
  } else if (from.ss_family == AF_INET6) {
    std::memcpy(peer.address.data(), &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr, 16);
  }
  in6_addr v6{};
  std::memcpy(&v6, peer.address.data(), 16);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    inet_ntop(AF_INET, peer.address.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, &v6, text, sizeof text);
  }
  peer.text = text;
  return peer;
}

}  // namespace stoa::rpc
