#include "tests/frontends/nfs/wire_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace stoa::test {
namespace {

constexpr std::uint32_t kLast = 0x8000'0000;

Bytes mark(std::uint32_t word) {
  Bytes bytes(4);
  rpc::store_be32(bytes.data(), word);
  return bytes;
}

}  // namespace

Xdr& Xdr::u32(std::uint32_t value) {
  const Bytes word = mark(value);
  return raw(word);
}
Xdr& Xdr::u64(std::uint64_t value) {
  return u32(static_cast<std::uint32_t>(value >> 32)).u32(static_cast<std::uint32_t>(value));
}
Xdr& Xdr::opaque(std::span<const std::byte> bytes) {
  u32(static_cast<std::uint32_t>(bytes.size())).raw(bytes);
  bytes_.resize(rpc::padded(bytes_.size()));
  return *this;
}
Xdr& Xdr::string(std::string_view text) {
  return opaque(std::as_bytes(std::span(text.data(), text.size())));
}
Xdr& Xdr::raw(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

Bytes auth_sys(std::uint32_t uid, std::uint32_t gid, std::vector<std::uint32_t> groups, std::string_view machine) {
  Xdr body;
  body.u32(7).string(machine).u32(uid).u32(gid).u32(static_cast<std::uint32_t>(groups.size()));
  for (const std::uint32_t group : groups) body.u32(group);
  return body.bytes();
}

Bytes encode(const CallSpec& spec, std::span<const std::byte> arguments) {
  Xdr call;
  call.u32(spec.xid).u32(0).u32(spec.rpc_version).u32(spec.program).u32(spec.version).u32(spec.procedure);
  call.u32(spec.auth_flavor).opaque(spec.auth_body);
  call.u32(spec.verifier_flavor).opaque(spec.verifier_body);
  call.raw(arguments);
  return call.bytes();
}

WireClient::WireClient(std::uint16_t port, std::uint8_t host)
    : fd_(socket(host == kIpv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 to6{};
  to6.sin6_family = AF_INET6;
  to6.sin6_port = htons(port);
  to6.sin6_addr = in6addr_loopback;
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};  // a test that fails must not hang
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | host);
  if (host != 1 && host != kIpv6) bind(fd_, reinterpret_cast<const sockaddr*>(&from), sizeof from);
  const bool connected = host == kIpv6 ? connect(fd_, reinterpret_cast<sockaddr*>(&to6), sizeof to6) == 0
                                       : connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  if (!connected) {
    close(fd_);
    fd_ = -1;
  }
}

WireClient::~WireClient() {
  if (fd_ >= 0) close(fd_);
}

bool WireClient::send_raw(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

bool WireClient::send_record(std::span<const std::byte> record) {
  Bytes framed = mark(kLast | static_cast<std::uint32_t>(record.size()));
  framed.insert(framed.end(), record.begin(), record.end());
  return send_raw(framed);
}

bool WireClient::send_fragments(std::span<const std::byte> record, std::size_t size) {
  while (!record.empty()) {
    const std::size_t n = std::min(size, record.size());
    Bytes framed = mark((n == record.size() ? kLast : 0) | static_cast<std::uint32_t>(n));
    framed.insert(framed.end(), record.begin(), record.begin() + static_cast<std::ptrdiff_t>(n));
    if (!send_raw(framed)) return false;
    record = record.subspan(n);
  }
  return true;
}

bool WireClient::read_exactly(std::byte* at, std::size_t size) {
  while (size > 0) {
    const ssize_t n = recv(fd_, at, size, 0);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

std::optional<Bytes> WireClient::receive_record() {
  Bytes record;
  while (true) {
    std::byte head[4];
    if (!read_exactly(head, sizeof head)) return std::nullopt;
    const std::uint32_t word = rpc::load_be32(head);
    const std::size_t size = word & ~kLast;
    if (size > (4u << 20)) return std::nullopt;
    const std::size_t before = record.size();
    record.resize(before + size);
    if (!read_exactly(record.data() + before, size)) return std::nullopt;
    if ((word & kLast) != 0) return record;
  }
}

std::optional<WireReply> WireClient::receive() {
  const auto record = receive_record();
  return record ? parse(*record) : std::nullopt;
}

std::optional<WireReply> WireClient::parse(std::span<const std::byte> record) {
  rpc::XdrReader in(record);
  WireReply reply;
  reply.xid = in.u32();
  if (in.u32() != 1) return std::nullopt;
  reply.reply_status = in.u32();
  if (reply.reply_status == 0) {
    reply.verifier_flavor = in.u32();
    const auto verifier = in.opaque(400);
    reply.verifier.assign(verifier.begin(), verifier.end());
    reply.accept_status = in.u32();
    if (reply.accept_status == 2) {
      reply.low = in.u32();
      reply.high = in.u32();
    }
  } else {
    reply.reject_status = in.u32();
    if (reply.reject_status == 0) {
      reply.low = in.u32();
      reply.high = in.u32();
    } else {
      reply.auth_status = in.u32();
    }
  }
  if (!in.ok()) return std::nullopt;
  const auto rest = in.rest();
  reply.results.assign(rest.begin(), rest.end());
  return reply;
}

std::optional<WireReply> WireClient::call(const CallSpec& spec, std::span<const std::byte> arguments) {
  if (!send_record(encode(spec, arguments))) return std::nullopt;
  return receive();
}

bool WireClient::closed_by_server() {
  std::byte buffer[4096];
  while (true) {
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    if (n == 0) return true;
    if (n < 0) return errno == ECONNRESET;
  }
}

void WireClient::finish_sending() {
  shutdown(fd_, SHUT_WR);
}

}  // namespace stoa::test
