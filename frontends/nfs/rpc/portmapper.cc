#include "frontends/nfs/rpc/portmapper.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "frontends/nfs/rpc/message.h"
#include "frontends/nfs/rpc/record_mark.h"
#include "frontends/nfs/rpc/xdr.h"

namespace stoa::rpc {
namespace {

// The same numbers in both versions (RFC 1833 2.1, 3.1).
constexpr std::uint32_t kSet = 1;
constexpr std::uint32_t kUnset = 2;
constexpr std::size_t kReplyBytes = 4 + 24 + 4;  // mark, accepted header, bool

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Result<bool> call(std::uint32_t procedure, const PortMapping& mapping, std::uint16_t portmapper_port) {
  const Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd() < 0) return fail_errno(errno, "socket for the portmapper");
  const timeval patience{3, 0};
  setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(portmapper_port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket.fd(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
    return fail_errno(errno, "connect to the portmapper; is rpcbind running?");
  }

  ReplyBuffer buffer;
  XdrWriter out(buffer);
  const auto xid = static_cast<std::uint32_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  const bool ipv4 = mapping.ipv6.empty();
  for (const std::uint32_t word :
       {std::uint32_t{0}, xid, kCall, kRpcVersion, kPortmapProgram, ipv4 ? kPortmapVersion : kRpcbindVersion, procedure,
        0u, 0u, 0u, 0u,  // AUTH_NONE twice
        mapping.program, mapping.version}) {
    out.u32(word);
  }
  if (ipv4) {
    out.u32(mapping.udp ? IPPROTO_UDP : IPPROTO_TCP);
    out.u32(mapping.port);
  } else {
    out.string(mapping.udp ? "udp6" : "tcp6");
    out.string(mapping.ipv6);
    out.string("stoa");  // the owner, as far as the portmapper believes it
  }
  out.patch_u32(0, kLastFragment | static_cast<std::uint32_t>(buffer.size() - 4));
  if (send(socket.fd(), buffer.bytes().data(), buffer.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(buffer.size())) {
    return fail_errno(errno, "send to the portmapper");
  }
  std::array<std::byte, kReplyBytes> reply{};
  const ssize_t got = recv(socket.fd(), reply.data(), reply.size(), MSG_WAITALL);
  if (got != static_cast<ssize_t>(reply.size())) return fail(Errc::kIo, "the portmapper gave no proper answer");
  XdrReader in(reply);
  in.u32();
  if (in.u32() != xid || in.u32() != kReply || in.u32() != 0) return fail(Errc::kIo, "the portmapper refused the call");
  in.u32();
  in.u32();
  if (in.u32() != 0) return fail(Errc::kIo, "the portmapper refused the call");
  return in.boolean();
}

}  // namespace

Status register_port(const PortMapping& mapping, std::uint16_t portmapper_port) {
  STOA_TRY(set, call(kSet, mapping, portmapper_port));
  if (!set) return fail(Errc::kExists, "program " + std::to_string(mapping.program) + " is registered already");
  return {};
}

Status unregister_port(const PortMapping& mapping, std::uint16_t portmapper_port) {
  STOA_TRY(unset, call(kUnset, mapping, portmapper_port));
  if (!unset) return fail(Errc::kNotFound, "program " + std::to_string(mapping.program) + " was not registered");
  return {};
}

}  // namespace stoa::rpc
