#include "frontends/nfs/rpc/remote_caller.h"

#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.h"
#include "frontends/nfs/rpc/portmapper.h"
#include "frontends/nfs/rpc/universal_address.h"
#include "frontends/wire/peer.h"

namespace stoa::rpc {
namespace {

// GETPORT of version 2 and GETADDR of version 3 (RFC 1833 3, 2.2.1).
constexpr std::uint32_t kGetPort = 3;
constexpr std::size_t kUniversalAddressBytesMax = 256;

std::vector<std::byte> question(const RemoteCall& call, Transport transport, std::uint16_t portmapper_port) {
  const bool ipv4 = wire::is_ipv4(call.address);
  ReplyBuffer buffer;
  XdrWriter out(buffer);
  out.u32(call.program);
  out.u32(call.version);
  if (ipv4) {
    out.u32(transport == Transport::kTcp ? IPPROTO_TCP : IPPROTO_UDP);
    out.u32(0);
  } else {
    out.string(transport == Transport::kTcp ? "tcp6" : "udp6");
    out.string(to_text({call.address, portmapper_port}));
    out.string("");  // the owner
  }
  return call_record(kPortmapProgram, ipv4 ? kPortmapVersion : kRpcbindVersion, kGetPort, AuthFlavor::kNone,
                     buffer.bytes());
}

// Only the port: calls go to the requested host, regardless of the one named here.
std::uint16_t port_in(std::span<const std::byte> results, bool ipv4) {
  XdrReader in(results);
  if (!ipv4) {
    const auto named = parse_universal_address(in.string(kUniversalAddressBytesMax), true);
    return in.ok() && named ? named->port : 0;
  }
  const std::uint32_t port = in.u32();
  return in.ok() && port <= 65535 ? static_cast<std::uint16_t>(port) : 0;
}

}  // namespace

struct RemoteCaller::Exchange {
  RemoteCall call;
  OnDone on_done;
  Transport transport = Transport::kTcp;
};

bool RemoteCaller::call(RemoteCall call, OnDone on_done) {
  STOA_ASSERT(call.arguments.size() <= kArgumentBytesMax);
  if (!take_place(call)) return false;
  const auto exchange = std::make_shared<Exchange>(std::move(call), std::move(on_done));
  if (look_up(exchange)) return true;
  free_place(exchange->call);
  return false;
}

bool RemoteCaller::take_place(const RemoteCall& call) {
  const std::lock_guard lock(mutex_);
  if (calls_ >= kCallsMax || (call.answer && answers_ >= kAnswersMax)) return false;
  std::size_t& of_host = calls_by_host_[wire::host_of(call.address)];
  if (of_host >= kCallsPerHostMax) return false;
  ++of_host;
  ++calls_;
  if (call.answer) ++answers_;
  return true;
}

void RemoteCaller::free_place(const RemoteCall& call) {
  const std::lock_guard lock(mutex_);
  const auto of_host = calls_by_host_.find(wire::host_of(call.address));
  if (--of_host->second == 0) calls_by_host_.erase(of_host);
  --calls_;
  if (call.answer) --answers_;
}

std::shared_ptr<BackChannel> RemoteCaller::line(const Exchange& exchange, std::uint16_t port) {
  const std::lock_guard lock(mutex_);
  const LineName name{exchange.call.address, port, exchange.transport};
  if (const auto known = lines_.find(name); known != lines_.end()) {
    if (auto line = known->second.lock()) return line;
  }
  std::erase_if(lines_, [](const auto& other) { return other.second.expired(); });
  auto line = dialer_.line(exchange.call.address, port, exchange.transport);
  lines_[name] = line;
  return line;
}

bool RemoteCaller::look_up(const ExchangeRef& exchange) {
  return line(*exchange, portmapper_port_)
      ->call_back(question(exchange->call, exchange->transport, portmapper_port_),
                  [this, exchange](std::span<const std::byte> reply) { go_on(exchange, reply); });
}

void RemoteCaller::go_on(const ExchangeRef& exchange, std::span<const std::byte> named) {
  const auto results = results_of(named);
  if (!results) return try_otherwise(exchange, results.error());
  const RemoteCall& call = exchange->call;
  const std::uint16_t port = port_in(*results, wire::is_ipv4(call.address));
  if (port == 0) return try_otherwise(exchange, Error{Errc::kNotFound});
  const bool sent =
      line(*exchange, port)
          ->call_back(call_record(call.program, call.version, call.procedure, AuthFlavor::kNone, call.arguments),
                      [this, exchange](std::span<const std::byte> reply) {
                        const auto answer = results_of(reply);
                        if (!answer) return try_otherwise(exchange, answer.error());
                        end(*exchange, answer);
                      });
  if (!sent) try_otherwise(exchange, Error{Errc::kBusy});
}

void RemoteCaller::try_otherwise(const ExchangeRef& exchange, const Error& error) {
  if (exchange->transport == Transport::kTcp) {
    exchange->transport = Transport::kUdp;
    if (look_up(exchange)) return;
  }
  end(*exchange, fail(error));
}

void RemoteCaller::end(Exchange& exchange, const Result<std::span<const std::byte>>& results) {
  free_place(exchange.call);
  exchange.on_done(results);
}

Result<std::string> local_address_towards(const std::array<std::uint8_t, 16>& address) {
  constexpr std::uint16_t kAnyPort = 111;
  const wire::SocketAddress to = wire::socket_address(address, kAnyPort);
  const int fd = socket(to.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail_errno(errno, "socket");
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  const bool known =
      connect(fd, to.get(), to.bytes) == 0 && getsockname(fd, reinterpret_cast<sockaddr*>(&from), &size) == 0;
  const int error = errno;
  close(fd);
  if (!known) return fail_errno(error, "no way to a client");
  return wire::peer_of(from).text;
}

}  // namespace stoa::rpc
