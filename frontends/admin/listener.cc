#include "frontends/admin/listener.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stoa::admin {
namespace {

// Of one port or socket; beyond it connections wait in the kernel for us to accept.
constexpr int kBacklog = 256;

}  // namespace

Listener::~Listener() {
  if (fd_ >= 0) close(fd_);
}

Result<Listener> listen_tcp(const std::string& host, std::uint16_t& port) {
  const bool v6 = host.find(':') != std::string::npos;
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (v6) {
    auto* address = reinterpret_cast<sockaddr_in6*>(&storage);
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(port);
    if (inet_pton(AF_INET6, host.c_str(), &address->sin6_addr) != 1)
      return fail(Errc::kInvalid, host + " is not an address");
    size = sizeof *address;
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&storage);
    address->sin_family = AF_INET;
    address->sin_port = htons(port);
    if (inet_pton(AF_INET, host.c_str(), &address->sin_addr) != 1)
      return fail(Errc::kInvalid, host + " is not an address");
    size = sizeof *address;
  }
  Listener listener(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (listener.get() < 0) return fail_errno(errno, "admin socket");
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const std::string where = host + " port " + std::to_string(port);
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    return fail(errno == EADDRINUSE ? Errc::kBusy
                : errno == EACCES   ? Errc::kAccess
                                    : Errc::kIo,
                "the admin interface cannot listen on " + where + ": " + std::strerror(errno) +
                    "; choose another with admin.listen");
  }
  if (listen(listener.get(), kBacklog) != 0) return fail_errno(errno, "listen on " + where);
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&storage), &size);
  port = ntohs(v6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                  : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
  return listener;
}

Result<Listener> listen_unix(const std::string& path, unsigned mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(Errc::kInvalid, "the path of the admin socket is longer than 107 bytes: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  Listener listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (listener.get() < 0) return fail_errno(errno, "admin socket");
  struct stat old{};
  // Only ever a socket: a mistyped path must not cost a file.
  if (lstat(address.sun_path, &old) == 0 && S_ISSOCK(old.st_mode)) unlink(address.sun_path);
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return fail_errno(errno, "the admin interface cannot make the socket " + path);
  if (chmod(address.sun_path, mode) != 0) return fail_errno(errno, "chmod " + path);
  if (listen(listener.get(), kBacklog) != 0) return fail_errno(errno, "listen on " + path);
  return listener;
}

}  // namespace stoa::admin
