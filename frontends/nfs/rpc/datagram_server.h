// A server of programs with small calls over UDP, which status and lock managers of other systems use. One thread; a
// reply is sent at once and not kept, so a duplicate call is run twice.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "frontends/nfs/rpc/server.h"

namespace stoa::rpc {

class DatagramServer {
 public:
  // A call or a reply that is longer is dropped.
  static constexpr std::size_t kBytesMax = 8192;

  // `service` as of Server; its programs leave nothing pending. kInvalid: a malformed address; kIo: the port is taken.
  static Result<std::unique_ptr<DatagramServer>> start(const Endpoint& endpoint, Service service,
                                                       MetricRegistry& metrics);
  // Finishes the call that runs.
  ~DatagramServer();
  DatagramServer(const DatagramServer&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  DatagramServer(int fd, int wake, std::uint16_t port, Service service, MetricRegistry& metrics);
  void run(const std::stop_token& stop);
  // The reply to one call; empty: it deserves none.
  std::span<const std::byte> answer(std::span<const std::byte> record, const Peer& peer, Runner& runner);

  const int fd_;
  const int wake_;  // an eventfd
  const std::uint16_t port_;
  const Service service_;
  Counter& calls_;
  Counter& dropped_;
  ReplyBuffer out_;
  std::uint64_t next_request_id_ = 1;
  std::jthread thread_;
};

}  // namespace stoa::rpc
