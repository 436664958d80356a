#include "frontends/s3/http/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stoa::s3 {
namespace {
constexpr int kBacklog = 1024;
}

Result<Listener> listen_on(const std::string& address, std::uint16_t port) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  Listener listener;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    size = sizeof *v6;
    listener.ipv6 = true;
  } else {
    return fail(Errc::kInvalid, "s3: not an IPv4 or IPv6 address: " + address);
  }
  // Not blocking: two servers may accept from it for a moment (Server::renew).
  const int fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail_errno(errno, "s3: socket");
  const int on = 1;
  const int off = 0;
  (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // "::" serves IPv4, too.
  if (listener.ipv6) (void)::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&storage), size) != 0 || ::listen(fd, kBacklog) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    const int error = errno;
    ::close(fd);
    return fail(Error{Errc::kIo, error, "s3: cannot listen on " + address + " port " + std::to_string(port)});
  }
  listener.fd = fd;
  listener.port = ntohs(listener.ipv6 ? v6->sin6_port : v4->sin_port);
  return listener;
}

}  // namespace stoa::s3
