#include "bench/load/rpc_connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/load/die.h"

namespace stoa::bench {
namespace {

constexpr std::uint32_t kLastFragment = 0x80000000;
constexpr std::size_t kRecordMax = 4 << 20;

}  // namespace

RpcConnection::RpcConnection(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) die(host + " is no IPv4 address");
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0 || connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die("cannot connect to " + host + ":" + std::to_string(port) + ": " + std::strerror(errno));
  }
  const int one = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
}

RpcConnection::~RpcConnection() {
  close(fd_);
}

void RpcConnection::flush() {
  while (unsent()) {
    const ssize_t sent = send(fd_, out.data() + sent_, out.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EAGAIN || errno == EINTR) return;
      die(std::string("connection lost: ") + std::strerror(errno));
    }
    sent_ += static_cast<std::size_t>(sent);
  }
  out.clear();
  sent_ = 0;
}

bool RpcConnection::take_in() {
  if (begin_ > 0) {
    std::memmove(in_.get(), in_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_) {
    auto larger = std::make_unique<char[]>(capacity_ * 2);
    std::memcpy(larger.get(), in_.get(), end_);
    in_ = std::move(larger);
    capacity_ *= 2;
  }
  const ssize_t got = recv(fd_, in_.get() + end_, capacity_ - end_, 0);
  if (got == 0) die("the server closed a connection");
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    die(std::string("connection lost: ") + std::strerror(errno));
  }
  end_ += static_cast<std::size_t>(got);
  return true;
}

std::string_view RpcConnection::next_record() {
  if (end_ - begin_ < 4) return {};
  const std::uint32_t mark = load_be32(in_.get() + begin_);
  if ((mark & kLastFragment) == 0) die("the server sent a record in fragments, which this program does not read");
  const std::size_t bytes = mark & ~kLastFragment;
  if (bytes > kRecordMax) die("the server sent a record of " + std::to_string(bytes) + " bytes");
  if (end_ - begin_ - 4 < bytes) return {};
  const std::string_view record(in_.get() + begin_ + 4, bytes);
  begin_ += 4 + bytes;
  return record;
}

}  // namespace stoa::bench
