#include "frontends/native/client/connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace stoa::native {
namespace {

// Of one frame, from its first byte to its last: a server that stops in between is gone.
constexpr int kFrameTimeoutMs = 30'000;

bool wait_for(int fd, short events, int timeout_ms) {
  pollfd one{.fd = fd, .events = events, .revents = 0};
  int n = 0;
  do {
    n = poll(&one, 1, timeout_ms);
  } while (n < 0 && errno == EINTR);
  return n > 0;
}

// A connected socket, or -1.
int try_address(const addrinfo& address, std::chrono::milliseconds patience) {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  int error = connect(fd, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    socklen_t size = sizeof error;
    error = ETIMEDOUT;
    if (wait_for(fd, POLLOUT, static_cast<int>(patience.count()))) getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error == 0) return fd;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

Result<std::unique_ptr<ClientConnection>> ClientConnection::open(const std::string& host, std::uint16_t port,
                                                                 std::chrono::milliseconds patience) {
  const std::string where = host + " port " + std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0)
    return fail(Errc::kIo, "the host " + host + " is not known: " + gai_strerror(error));
  int fd = -1;
  for (const addrinfo* address = found; address != nullptr && fd < 0; address = address->ai_next)
    fd = try_address(*address, patience);
  const int error = errno;
  freeaddrinfo(found);
  if (fd < 0) {
    if (error == ETIMEDOUT) return fail(Errc::kTimeout, "no server answers at " + where);
    return fail_errno(error, "no server answers at " + where);
  }
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  return std::unique_ptr<ClientConnection>(new ClientConnection(fd));
}

ClientConnection::~ClientConnection() {
  close(fd_);
}

void ClientConnection::break_off() {
  shutdown(fd_, SHUT_RDWR);
}

Status ClientConnection::send(std::span<const std::byte> frame) {
  const std::lock_guard lock(send_mutex_);
  while (!frame.empty()) {
    const ssize_t n = ::send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL);
    if (n > 0) {
      frame = frame.subspan(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      if (!wait_for(fd_, POLLOUT, kFrameTimeoutMs)) break;
    } else if (n == 0 || errno != EINTR) {
      break;
    }
  }
  if (frame.empty()) return {};
  break_off();  // half a frame may have left
  return fail(Errc::kIo, "the connection to the server is broken");
}

Status ClientConnection::fill(std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = recv(fd_, to, bytes, 0);
    if (n > 0) {
      to += n;
      bytes -= static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      if (!wait_for(fd_, POLLIN, kFrameTimeoutMs)) return fail(Errc::kIo, "the server stopped within a frame");
    } else if (n == 0 || errno != EINTR) {
      return fail(Errc::kIo, "the server has closed the connection");
    }
  }
  return {};
}

Result<std::shared_ptr<const Bytes>> ClientConnection::receive(std::chrono::milliseconds patience) {
  if (!wait_for(fd_, POLLIN, static_cast<int>(patience.count()))) return fail(Errc::kTimeout);
  std::byte head[kFrameHeadBytes];
  STOA_CHECK_OK(fill(head, sizeof head));
  const auto bytes = body_bytes(head);
  if (!bytes) return fail(Errc::kCorrupt, "what answers there does not speak the native protocol");
  auto body = std::make_shared<Bytes>(*bytes);
  STOA_CHECK_OK(fill(body->data(), body->size()));
  return std::shared_ptr<const Bytes>(std::move(body));
}

}  // namespace stoa::native
