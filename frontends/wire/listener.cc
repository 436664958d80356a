#include "frontends/wire/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace stoa::wire {
namespace {

Result<Listener> bind_socket(const Endpoint& endpoint, int type) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = type;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(endpoint.port);
  const int failed =
      getaddrinfo(endpoint.address.empty() ? "::" : endpoint.address.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) return fail(Errc::kInvalid, "listen address \"" + endpoint.address + "\": " + gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);

  const std::string where = endpoint.address + (type == SOCK_STREAM ? " port " : " UDP port ") + port;
  const int fd = socket(found->ai_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail_errno(errno, "socket for " + where);
  const int on = 1;
  const int off = 0;
  if (type == SOCK_STREAM) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (found->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || (type == SOCK_STREAM && listen(fd, SOMAXCONN) != 0) ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const int error = errno;
    close(fd);
    return fail_errno(error, "listen on " + where);
  }
  const in_port_t taken = bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                      : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  return Listener{fd, ntohs(taken)};
}

}  // namespace

Result<Listener> listen_tcp(const Endpoint& endpoint) {
  return bind_socket(endpoint, SOCK_STREAM);
}
Result<Listener> bind_udp(const Endpoint& endpoint) {
  return bind_socket(endpoint, SOCK_DGRAM);
}

}  // namespace stoa::wire
