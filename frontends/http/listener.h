// A socket that an HTTP server accepts from.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"

namespace stoa::http {

// Closes its descriptor. Never blocks in accept(2), so that two servers may accept from one socket.
class Listener {
 public:
  Listener() = default;
  Listener(int fd, std::uint16_t port, bool ipv6) : fd_(fd), port_(port), ipv6_(ipv6) {}
  Listener(Listener&& other) noexcept : fd_(std::exchange(other.fd_, -1)), port_(other.port_), ipv6_(other.ipv6_) {}
  Listener& operator=(Listener&& other) noexcept {
    std::swap(fd_, other.fd_);
    port_ = other.port_;
    ipv6_ = other.ipv6_;
    return *this;
  }
  ~Listener();

  int fd() const { return fd_; }
  std::uint16_t port() const { return port_; }  // 0: none, of a Unix socket
  bool ipv6() const { return ipv6_; }
  // Another descriptor of the same socket, which stays open as long as one of them does.
  Result<Listener> duplicate() const;

 private:
  int fd_ = -1;
  std::uint16_t port_ = 0;
  bool ipv6_ = false;
};

// `host` is numeric, "::" takes IPv4 as well; `port` 0: any free one. `backlog`: connections that wait to be accepted.
// kInvalid: no address; kBusy: it is in use; kAccess, kIo. detail names it.
Result<Listener> listen_tcp(const std::string& host, std::uint16_t port, int backlog);
// An old socket file there is replaced; anything else stays, and is an error.
Result<Listener> listen_unix(const std::string& path, unsigned mode, int backlog);

}  // namespace stoa::http
