#include "frontends/native/client/connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace stoa::native {
namespace {

// For the next bytes of a frame to leave: a server that takes none is gone.
constexpr int kFrameTimeoutMs = 30'000;
constexpr std::size_t kStageBytes = std::size_t{64} << 10;

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

ClientConnection::ClientConnection(int fd) : fd_(fd), stage_(new std::byte[kStageBytes]) {}

ClientConnection::~ClientConnection() {
  close(fd_);
}

void ClientConnection::break_off() {
  shutdown(fd_, SHUT_RDWR);
}

bool ClientConnection::wait_readable(std::chrono::nanoseconds patience) const {
  if (hidden()) return true;
  const auto until = std::chrono::steady_clock::now() + patience;
  pollfd one{.fd = fd_, .events = POLLIN, .revents = 0};
  for (;;) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
    const timespec time{.tv_sec = seconds.count(), .tv_nsec = (patience - seconds).count()};
    const int n = ppoll(&one, 1, patience.count() < 0 ? nullptr : &time, nullptr);
    if (n >= 0 || errno != EINTR) return n > 0;
    if (patience.count() >= 0)
      patience = std::max<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now(), {});
  }
}

Status ClientConnection::send(std::span<const std::byte> head, std::span<const std::byte> payload) {
  iovec parts[2] = {{const_cast<std::byte*>(head.data()), head.size()},
                    {const_cast<std::byte*>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = payload.empty() ? 1 : 2;
  std::size_t left = head.size() + payload.size();
  const std::lock_guard lock(send_mutex_);
  Bytes sealed;
  if (tls_ != nullptr) {
    if (!tls_->seal(head, sealed) || (!payload.empty() && !tls_->seal(payload, sealed))) {
      break_off();
      return fail(Errc::kIo, "the connection to the server is broken");
    }
    parts[0] = {sealed.data(), sealed.size()};
    message.msg_iovlen = 1;
    left = sealed.size();
  }
  while (left > 0) {
    const ssize_t n = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (n > 0) {
      left -= static_cast<std::size_t>(n);
      std::size_t gone = static_cast<std::size_t>(n);
      while (gone > 0) {
        iovec& part = *message.msg_iov;
        const std::size_t of_part = std::min(gone, part.iov_len);
        part.iov_base = static_cast<std::byte*>(part.iov_base) + of_part;
        part.iov_len -= of_part;
        gone -= of_part;
        if (part.iov_len == 0 && message.msg_iovlen > 1) {
          ++message.msg_iov;
          --message.msg_iovlen;
        }
      }
    } else if (n < 0 && errno == EAGAIN) {
      if (!wait_for(fd_, POLLOUT, kFrameTimeoutMs)) break;
    } else if (n == 0 || errno != EINTR) {
      break;
    }
  }
  if (left == 0) return {};
  break_off();  // half a frame may have left
  return fail(Errc::kIo, "the connection to the server is broken");
}

Status ClientConnection::start_tls(const tls::Context& context, const std::string& host,
                                   std::chrono::milliseconds patience) {
  STOA_TRY(stream, tls::Stream::connect(context, fd_, host));
  tls_ = std::move(stream);
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!tls_->established()) {
    const ssize_t step = tls_->handshake();
    const int error = errno;
    if (tls_->has_output()) STOA_CHECK_OK(send({}));
    if (step > 0 && !tls_->established()) return fail(Errc::kIo, "the TLS channel to " + host + " has no binding");
    if (step > 0) break;
    if (step < 0 && error == EAGAIN) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0 || !wait_for(fd_, POLLIN, static_cast<int>(left.count())))
        return fail(Errc::kTimeout, "the server " + host + " does not answer the beginning of TLS");
      continue;
    }
    if (const std::string why = tls_->failure(); !why.empty()) {
      return fail(Errc::kAccess, "the certificate of " + host + " " + why +
                                     "; the name in the URL must be that of the certificate, and --ca-file names an "
                                     "authority that this machine does not know");
    }
    return fail(Errc::kNotSupported, "the server " + host +
                                         " speaks no TLS 1.3; native.tls_certificate there offers it, or leave out "
                                         "--tls and write stoa:// in the URL");
  }
  return {};
}

std::span<const std::byte> ClientConnection::binding() const {
  if (tls_ == nullptr) return {};
  return tls_->binding();
}

Result<std::size_t> ClientConnection::read_some(std::byte* to, std::size_t bytes) {
  for (;;) {
    const iovec part{to, bytes};
    const ssize_t n = tls_ == nullptr ? recv(fd_, to, bytes, MSG_DONTWAIT) : tls_->read({&part, 1});
    const int error = errno;
    if (tls_ != nullptr && tls_->has_output()) (void)send({});  // a broken connection is found by the next read
    if (n > 0) return static_cast<std::size_t>(n);
    if (n < 0 && error == EAGAIN) return 0;
    if (n == 0 || error != EINTR) return fail(Errc::kIo, "the server has closed the connection");
  }
}

Result<std::shared_ptr<const Content>> ClientConnection::try_receive() {
  for (;;) {
    if (body_ == nullptr && staged() >= kFrameHeadBytes) {
      const auto bytes = body_bytes(stage_.get() + stage_begin_);
      if (!bytes) return fail(Errc::kCorrupt, "what answers there does not speak the native protocol");
      stage_begin_ += kFrameHeadBytes;
      body_ = std::make_shared<Content>(*bytes);
      body_at_ = 0;
    }
    if (body_ != nullptr) {
      const std::size_t here = std::min(staged(), body_->size() - body_at_);
      if (here > 0) std::memcpy(body_->data() + body_at_, stage_.get() + stage_begin_, here);
      stage_begin_ += here;
      body_at_ += here;
      if (body_at_ == body_->size()) return std::shared_ptr<const Content>(std::exchange(body_, nullptr));
      if (body_->size() - body_at_ >= kStageBytes) {
        STOA_TRY(got, read_some(body_->data() + body_at_, body_->size() - body_at_));
        if (got == 0) return std::shared_ptr<const Content>();
        body_at_ += got;
        continue;
      }
    }
    // Less than a frame's head is left there, if anything.
    std::memmove(stage_.get(), stage_.get() + stage_begin_, staged());
    stage_end_ = staged();
    stage_begin_ = 0;
    STOA_TRY(got, read_some(stage_.get() + stage_end_, kStageBytes - stage_end_));
    if (got == 0) return std::shared_ptr<const Content>();
    stage_end_ += got;
  }
}

Result<std::shared_ptr<const Content>> ClientConnection::receive(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    STOA_TRY(body, try_receive());
    if (body != nullptr) return body;
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0 || !wait_readable(left)) return fail(Errc::kTimeout);
  }
}

}  // namespace stoa::native
