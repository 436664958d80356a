#include "frontends/nfs/rpc/datagram_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "frontends/nfs/rpc/peer.h"

namespace stoa::rpc {

Result<std::unique_ptr<DatagramServer>> DatagramServer::start(const Endpoint& endpoint, Service service,
                                                              MetricRegistry& metrics) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(endpoint.port);
  const int failed =
      getaddrinfo(endpoint.address.empty() ? "::" : endpoint.address.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) return fail(Errc::kInvalid, "listen address \"" + endpoint.address + "\": " + gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);

  const std::string where = endpoint.address + " UDP port " + port;
  const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail_errno(errno, "socket for " + where);
  const int off = 0;
  if (found->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  const int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    const int error = errno;
    close(fd);
    if (wake >= 0) close(wake);
    return fail_errno(error, where);
  }
  const std::uint16_t bound_port = bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                               : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  return std::unique_ptr<DatagramServer>(new DatagramServer(fd, wake, ntohs(bound_port), std::move(service), metrics));
}

DatagramServer::DatagramServer(int fd, int wake, std::uint16_t port, Service service, MetricRegistry& metrics)
    : fd_(fd),
      wake_(wake),
      port_(port),
      service_(std::move(service)),
      calls_(metrics.counter("stoa_nfs_datagram_calls_total", "Calls over UDP that were run")),
      dropped_(metrics.counter("stoa_nfs_datagrams_dropped_total",
                               "Datagrams that were no calls, or whose reply was too long")),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

DatagramServer::~DatagramServer() {
  thread_.request_stop();
  eventfd_write(wake_, 1);
  thread_.join();
  close(fd_);
  close(wake_);
}

void DatagramServer::run(const std::stop_token& stop) {
  const auto scope = service_.make_scope();
  std::array<std::byte, kBytesMax> record{};
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> polled{{{fd_, POLLIN, 0}, {wake_, POLLIN, 0}}};
    poll(polled.data(), polled.size(), -1);
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    // MSG_TRUNC: the length that it had.
    const ssize_t got =
        recvfrom(fd_, record.data(), record.size(), MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) continue;
    std::span<const std::byte> reply;
    if (static_cast<std::size_t>(got) <= record.size()) {
      scope->refresh();
      reply = answer(std::span(record).first(static_cast<std::size_t>(got)), peer_of(from), *scope);
    }
    if (reply.empty() || reply.size() > kBytesMax) {
      dropped_.add();
      continue;
    }
    // Lost when the socket has no room, as any datagram may be.
    (void)sendto(fd_, reply.data(), reply.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&from), size);
  }
}

std::span<const std::byte> DatagramServer::answer(std::span<const std::byte> record, const Peer& peer,
                                                  WorkerScope& scope) {
  CallHeader header;
  if (!decode_call(record, header)) return {};
  out_.clear(kBytesMax * 2);
  XdrWriter writer(out_);
  if (header.rpc_version != kRpcVersion) {
    encode_rpc_mismatch(writer, header.xid);
    return out_.bytes();
  }
  if (header.auth != AuthStatus::kOk) {
    encode_auth_error(writer, header.xid, header.auth);
    return out_.bytes();
  }
  const auto found = std::ranges::find(service_.programs, header.program, [](const Program* p) { return p->number(); });
  if (found == service_.programs.end()) {
    encode_accepted(writer, header.xid, AcceptStatus::kProgramUnavailable);
    return out_.bytes();
  }
  Program& program = **found;
  if (header.version < program.version_low() || header.version > program.version_high()) {
    encode_program_mismatch(writer, header.xid, program.version_low(), program.version_high());
    return out_.bytes();
  }
  const auto procedures = program.procedures();
  if (header.procedure >= procedures.size() || procedures[header.procedure].name.empty()) {
    encode_accepted(writer, header.xid, AcceptStatus::kProcedureUnavailable);
    return out_.bytes();
  }
  calls_.add();
  encode_accepted(writer, header.xid, AcceptStatus::kSuccess);
  Reply reply{XdrWriter(out_)};
  const Call call{header, peer, scope, next_request_id_++, std::chrono::steady_clock::now(), nullptr};
  const Outcome outcome = program.run(call, reply);
  if (outcome.accept != AcceptStatus::kSuccess) {
    out_.truncate(0);
    encode_accepted(writer, header.xid, outcome.accept);
  }
  return out_.bytes();
}

}  // namespace stoa::rpc
