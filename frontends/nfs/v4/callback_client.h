// Callbacks to a client of minor version 0: over a connection to the address that SETCLIENTID gave (RFC 7530 10.2.1,
// 15, 16).
//
// That address must be the one that SETCLIENTID came from, so that no client makes this server call others. Clients
// behind an address translation are therefore not called back, and get no delegations.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "frontends/nfs/rpc/dialer.h"
#include "frontends/nfs/v4/callback_channel.h"

namespace stoa::nfs4 {

// cb_client4 and callback_ident, as they came.
struct CallbackAddress {
  std::uint32_t program = 0;
  std::string network;
  std::string address;
  std::uint32_t ident = 0;
};

// The port of a universal address (RFC 5665 5.2.3) over TCP whose host is `host`. Empty: another host, or malformed.
std::optional<std::uint16_t> callback_port(const CallbackAddress& given, const std::array<std::uint8_t, 16>& host);

class CallbackClient final : public CallbackChannel, public std::enable_shared_from_this<CallbackClient> {
 public:
  CallbackClient(std::shared_ptr<rpc::BackChannel> line, std::uint32_t program, std::uint32_t ident)
      : line_(std::move(line)), program_(program), ident_(ident) {}

  // CB_NULL: whether the client can be called. `on_up` is called when it can.
  void probe(std::function<void()> on_up);
  bool up() override;
  bool lost() override;
  void call(Callback callback) override;

 private:
  enum class State { kUnknown, kUp, kDown };
  void set(State state);
  void take_reply(Callback callback, std::span<const std::byte> reply);

  const std::shared_ptr<rpc::BackChannel> line_;
  const std::uint32_t program_;
  const std::uint32_t ident_;
  std::mutex mutex_;  // guards the members below
  State state_ = State::kUnknown;
  std::vector<Callback> under_way_;  // the callbacks being called
};

}  // namespace stoa::nfs4
