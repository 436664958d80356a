// Calls services on other machines that their portmapper knows (RFC 1833): the lock managers and status monitors of
// clients.
//
// A call goes over TCP and, when that fails at any point, over UDP, each time from asking for the port on. One thread
// does all of them; a machine that does not answer delays nobody else.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::rpc {

struct RemoteCall {
  std::array<std::uint8_t, 16> address{};  // as Peer::address
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::vector<std::byte> arguments;  // XDR
};

class RemoteCaller {
 public:
  // The results (XDR), valid during the call. kIo, kTimeout: no answer; kNotFound: no such service; kNotSupported: the
  // address is not IPv4, or the service has no such program, version or procedure.
  using OnDone = std::function<void(Result<std::span<const std::byte>>)>;
  static constexpr std::size_t kCallsMax = 256;
  static constexpr std::size_t kArgumentBytesMax = 8192;

  explicit RemoteCaller(std::uint16_t portmapper_port = 111);
  ~RemoteCaller();
  // Calls under way are dropped: their `on_done` is not called, nor is that of any later one. Idempotent.
  void stop();
  RemoteCaller(const RemoteCaller&) = delete;

  // Does not block; `on_done` is called once, by the thread of this, with no lock held, and must not block. False: too
  // many calls are under way; `on_done` is not called.
  bool call(RemoteCall call, OnDone on_done);

 private:
  struct Exchange;
  void run(const std::stop_token& stop);

  const std::uint16_t portmapper_port_;
  int wake_ = -1;     // an eventfd
  std::mutex mutex_;  // guards what follows
  std::list<std::unique_ptr<Exchange>> fresh_;
  std::size_t calls_ = 0;  // under way, `fresh_` included
  std::jthread thread_;    // last: it goes first
};

// The address of this machine that packets to another one come from. kIo, kNotSupported.
Result<std::string> local_address_towards(const std::array<std::uint8_t, 16>& address);

}  // namespace stoa::rpc
