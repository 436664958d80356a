// Calls to a client over the client's own connection: each with a transaction id of its own, until its reply has come.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "frontends/nfs/rpc/program.h"
#include "frontends/wire/protocol.h"

namespace stoa::rpc {

struct RpcProtocol;

// Part of its connection. Thread-safe.
class BackCalls final : public BackChannel {
 public:
  using Connection = wire::Connection<RpcProtocol>;
  explicit BackCalls(Connection& connection) : connection_(connection) {}

  bool call_back(std::vector<std::byte> record, OnReply on_reply) override;
  bool connected() const override;
  std::weak_ptr<BackChannel> keep() override;

  // True: the record is a reply to a call of ours, and its callback was called.
  bool take_reply(std::span<const std::byte> record);
  bool worth_keeping() const { return kept_.load(); }
  void closed();

 private:
  static constexpr std::size_t kCallsMax = 256;

  Connection& connection_;
  std::atomic<bool> kept_{false};
  std::mutex mutex_;  // guards the two below
  std::uint32_t next_xid_ = 1;
  std::map<std::uint32_t, OnReply> calls_;
};

}  // namespace stoa::rpc
