// Calls to services on other machines through their portmapper (RFC 1833): the lock managers and status monitors of
// clients. Over lines of the dialer: a call goes over TCP and, when that fails at any point, over UDP, each time from
// asking for the port on.
#pragma once

#include <map>
#include <string>

#include "frontends/nfs/rpc/dialer.h"

namespace stoa::rpc {

struct RemoteCall {
  std::array<std::uint8_t, 16> address{};  // as Peer::address
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::vector<std::byte> arguments{};  // XDR
  bool answer = false;                 // to a message: its sender makes us call
};

class RemoteCaller {
 public:
  // The results (XDR), valid during the call. kTimeout: no answer; kNotFound: no such service; kNotSupported: no such
  // program, version or procedure; kIo: refused; kBusy: too many calls in progress.
  using OnDone = std::function<void(Result<std::span<const std::byte>>)>;
  static constexpr std::size_t kCallsMax = 256;
  // A call to a host that drops packets lasts until its time-out, so one host must not take all places.
  static constexpr std::size_t kCallsPerHostMax = 32;  // as wire::host_of()
  static constexpr std::size_t kAnswersMax = kCallsMax / 4;
  static constexpr std::size_t kArgumentBytesMax = 8192;

  // `dialer` must have been stopped before this goes.
  explicit RemoteCaller(Dialer& dialer, std::uint16_t portmapper_port = 111)
      : dialer_(dialer), portmapper_port_(portmapper_port) {}
  RemoteCaller(const RemoteCaller&) = delete;

  // Does not block; `on_done` is called once, by the dialer's thread, with no lock held, and must not block; never when
  // the dialer has been stopped. False: too many calls in progress, in all or for this host; `on_done` is not called.
  bool call(RemoteCall call, OnDone on_done);

 private:
  struct Exchange;
  using ExchangeRef = std::shared_ptr<Exchange>;
  std::shared_ptr<BackChannel> line(const Exchange& exchange, std::uint16_t port);
  bool look_up(const ExchangeRef& exchange);
  void go_on(const ExchangeRef& exchange, std::span<const std::byte> named);
  void try_otherwise(const ExchangeRef& exchange, const Error& error);
  void end(Exchange& exchange, const Result<std::span<const std::byte>>& results);
  bool take_place(const RemoteCall& call);
  void free_place(const RemoteCall& call);

  Dialer& dialer_;
  const std::uint16_t portmapper_port_;
  std::mutex mutex_;  // guards the members below
  // Calls in progress: in all, answers among them, and by host.
  std::size_t calls_ = 0, answers_ = 0;
  std::map<std::array<std::uint8_t, 16>, std::size_t> calls_by_host_;
  // Calls of one service share a line while there are any.
  using LineName = std::tuple<std::array<std::uint8_t, 16>, std::uint16_t, Transport>;
  std::map<LineName, std::weak_ptr<BackChannel>> lines_;
};

// The address of this machine that packets to another one come from. kIo.
Result<std::string> local_address_towards(const std::array<std::uint8_t, 16>& address);

}  // namespace stoa::rpc
