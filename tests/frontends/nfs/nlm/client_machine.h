// The machine of an NFSv3 client, as the server calls it: a portmapper (rpcbind), a lock manager and a status monitor
// on one port, over TCP and UDP.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/metrics.h"
#include "frontends/nfs/nlm/messages.h"
#include "frontends/nfs/rpc/datagram_server.h"
#include "frontends/nfs/rpc/server.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::test {

// A call that came from the server.
struct CallIn {
  std::uint32_t program = 0, procedure = 0;
  bool tcp = false;
  Bytes arguments;
};

class ClientMachine {
 public:
  explicit ClientMachine(const std::string& address = "127.0.0.1");
  ~ClientMachine();

  std::uint16_t port() const { return server_->ports().front(); }
  // The oldest call that was not taken yet; waits for one.
  CallIn take();
  bool called() const;

  std::atomic<nlm::NlmStatus> answer{nlm::NlmStatus::kGranted};  // to GRANTED
  std::atomic<bool> tcp{true}, udp{true};                        // whether the portmapper knows of services there
  std::atomic<int> mute{0};                                      // this many NLM and NSM calls are still refused

 private:
  class Service;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::deque<CallIn> calls_;
  MetricRegistry metrics_;
  std::vector<std::unique_ptr<Service>> services_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<rpc::DatagramServer> datagrams_;
};

}  // namespace stoa::test
