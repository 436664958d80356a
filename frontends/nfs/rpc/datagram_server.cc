#include "frontends/nfs/rpc/datagram_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "frontends/wire/peer.h"

namespace stoa::rpc {

Result<std::unique_ptr<DatagramServer>> DatagramServer::start(const Endpoint& endpoint, Service service,
                                                              MetricRegistry& metrics) {
  STOA_TRY(bound, wire::bind_udp(endpoint));
  const int wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake < 0) {
    const int error = errno;
    close(bound.fd);
    return fail_errno(error, "eventfd");
  }
  return std::unique_ptr<DatagramServer>(new DatagramServer(bound.fd, wake, bound.port, std::move(service), metrics));
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
  const auto runner = service_.programs.make_runner();
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
      runner->refresh();
      reply = answer(std::span(record).first(static_cast<std::size_t>(got)), wire::peer_of(from), *runner);
    }
    if (reply.empty() || reply.size() > kBytesMax) {
      dropped_.add();
      continue;
    }
    // Lost when the socket has no room, as any datagram may be.
    (void)sendto(fd_, reply.data(), reply.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&from), size);
  }
}

std::span<const std::byte> DatagramServer::answer(std::span<const std::byte> record, const Peer& peer, Runner& runner) {
  CallHeader header;
  if (!decode_call(record, header)) return {};
  out_.clear(kBytesMax * 2);
  XdrWriter writer(out_);
  if (header.rpc_version != kRpcVersion) {
    encode_rpc_mismatch(writer, header.xid);
    return out_.bytes();
  }
  // Contexts exist over TCP only: an unverified credential must not count as an anonymous call.
  if (header.auth == AuthStatus::kOk && header.gss) header.auth = AuthStatus::kBadCredential;
  if (header.auth != AuthStatus::kOk) {
    encode_auth_error(writer, header.xid, header.auth);
    return out_.bytes();
  }
  const std::vector<Program*>& programs = service_.programs.list;
  const auto found = std::ranges::find(programs, header.program, [](const Program* p) { return p->number(); });
  if (found == programs.end()) {
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
  const Call call{header, peer, next_request_id_++, std::chrono::steady_clock::now(), nullptr};
  const Outcome outcome = runner.run(static_cast<std::size_t>(found - programs.begin()), call, reply);
  if (outcome.accept != AcceptStatus::kSuccess) {
    out_.truncate(0);
    encode_accepted(writer, header.xid, outcome.accept);
  }
  return out_.bytes();
}

}  // namespace stoa::rpc
