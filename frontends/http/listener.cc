#include "frontends/http/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stoa::http {
namespace {

Errc kind_of(int error) {
  return error == EADDRINUSE ? Errc::kBusy : error == EACCES ? Errc::kAccess : Errc::kIo;
}

}  // namespace

Listener::~Listener() {
  if (fd_ >= 0) close(fd_);
}

Result<Listener> Listener::duplicate() const {
  const int fd = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return fail_errno(errno, "a second descriptor of a listening socket");
  return Listener(fd, port_, ipv6_);
}

Result<Listener> listen_tcp(const std::string& host, std::uint16_t port, int backlog) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    size = sizeof *v4;
  } else if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    size = sizeof *v6;
  } else {
    return fail(Errc::kInvalid, host + " is not an IPv4 or IPv6 address");
  }
  const bool ipv6 = storage.ss_family == AF_INET6;
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail_errno(errno, "socket");
  const int on = 1;
  const int off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (ipv6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(fd, reinterpret_cast<sockaddr*>(&storage), size) != 0 || listen(fd, backlog) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    const int error = errno;
    close(fd);
    return fail(Error{kind_of(error), error, "cannot listen on " + host + " port " + std::to_string(port)});
  }
  return Listener(fd, ntohs(ipv6 ? v6->sin6_port : v4->sin_port), ipv6);
}

Result<Listener> listen_unix(const std::string& path, unsigned mode, int backlog) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(Errc::kInvalid, "the path of the socket is longer than 107 bytes: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return fail_errno(errno, "socket");
  Listener listener(fd, 0, false);
  struct stat old{};
  // Only ever a socket: a mistyped path must not cost a file.
  if (lstat(address.sun_path, &old) == 0 && S_ISSOCK(old.st_mode)) unlink(address.sun_path);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return fail_errno(errno, "cannot make the socket " + path);
  if (chmod(address.sun_path, mode) != 0) return fail_errno(errno, "chmod " + path);
  if (listen(fd, backlog) != 0) return fail_errno(errno, "listen on " + path);
  return listener;
}

}  // namespace stoa::http
