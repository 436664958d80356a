#include "tests/frontends/wire/toy_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <utility>

namespace stoa::test {

Bytes be32(std::uint32_t value) {
  return {std::byte(value >> 24), std::byte(value >> 16), std::byte(value >> 8), std::byte(value)};
}

std::uint32_t be32_at(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint32_t>(at[i]);
  return value;
}

Bytes toy_request(std::uint32_t id, std::string_view words) {
  Bytes bytes = be32(static_cast<std::uint32_t>(4 + words.size()));
  for (const std::byte byte : be32(id)) bytes.push_back(byte);
  for (const char c : words) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

ToyClient::ToyClient(std::uint16_t port, std::uint8_t host) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};  // a test that fails must not hang
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | host);
  if (host != 1) bind(fd_, reinterpret_cast<const sockaddr*>(&from), sizeof from);
  sockaddr_in to = from;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) disconnect();
}

ToyClient::~ToyClient() {
  disconnect();
}

void ToyClient::disconnect() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

bool ToyClient::send(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

bool ToyClient::read_exactly(std::byte* at, std::size_t size) {
  while (size > 0) {
    const ssize_t n = recv(fd_, at, size, 0);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<ToyReply> ToyClient::receive() {
  std::byte head[8];
  if (!read_exactly(head, sizeof head)) return std::nullopt;
  ToyReply reply{.id = be32_at(head + 4), .words = std::string(be32_at(head) - 4, '\0')};
  if (!read_exactly(reinterpret_cast<std::byte*>(reply.words.data()), reply.words.size())) return std::nullopt;
  return reply;
}

bool ToyClient::closed_by_server() {
  char byte = 0;
  return recv(fd_, &byte, 1, 0) <= 0;
}

}  // namespace stoa::test
