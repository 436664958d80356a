// The sockets that the admin interface listens on.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"

namespace stoa::admin {

// Closes its descriptor.
class Listener {
 public:
  Listener() = default;
  explicit Listener(int fd) : fd_(fd) {}
  Listener(Listener&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Listener& operator=(Listener&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Listener();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// `host` is numeric; `port` 0 becomes the one that was free. kInvalid, kBusy (the address is in use), kAccess, kIo.
Result<Listener> listen_tcp(const std::string& host, std::uint16_t& port);
// An old socket file there is replaced; anything else stays, and is an error.
Result<Listener> listen_unix(const std::string& path, unsigned mode);

}  // namespace stoa::admin
