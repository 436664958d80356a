// Call handling of one worker: checks and decodes calls, runs programs, stores replies of changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "frontends/nfs/rpc/rpc_protocol.h"
#include "frontends/wire/connection.h"

namespace stoa::rpc {

class CallHandler {
 public:
  using Connection = wire::Connection<RpcProtocol>;
  using Clock = wire::Clock;

  explicit CallHandler(RpcProtocol& rpc);

  // As wire::protocol.h has them.
  void refresh() { runner_->refresh(); }
  bool governs() const { return runner_->governs(); }
  wire::Decoded decode(Connection& connection, const wire::Record& record, Clock::time_point now, DecodedCall& call,
                       ReplyBuffer& out);
  void charge(Connection& connection, const DecodedCall& call, Clock::time_point now, wire::Charge& charge);
  void append_busy(const DecodedCall& call, ReplyBuffer& out);
  wire::Ran run(Connection& connection, wire::Record& record, DecodedCall& call, Clock::time_point now,
                core::PendingDurability* pending, ReplyBuffer& out, ReplyBuffer& at_once);
  wire::Payload run_alone(Connection& connection, wire::Record& record, DecodedCall& call, Clock::time_point now,
                          ReplyBuffer& out);
  void finish(const DecodedCall& call, ReplyBuffer& out, std::size_t begin) { wrap(call, out, begin); }
  bool finishes(const DecodedCall& call) const { return call.tag.gss != nullptr; }
  void took(const DecodedCall& call, std::chrono::nanoseconds time) {
    call.metrics->seconds.observe_ns(static_cast<std::uint64_t>(time.count()));
  }
  void durable(DecodedCall& call, std::span<const std::byte> reply, Clock::time_point now);
  void append_not_durable(DecodedCall& call, Errc why, ReplyBuffer& out);

 private:
  // Whether RPCSEC_GSS and the credential let the call in; empty: they do. On refusal the reply was appended.
  std::optional<wire::Decoded> judge(Connection& connection, DecodedCall& call, Clock::time_point now,
                                     ReplyBuffer& out);
  // Finds the program and the procedure. False: there is none, which was appended.
  bool find_program(DecodedCall& call, ReplyBuffer& out);
  // One whole reply that refuses a call.
  template <class Encode>
  void refuse(const DecodedCall& call, ReplyBuffer& out, Encode encode);
  void report_refused(const Connection& connection, std::string_view request, std::string_view reason) const;
  // Adds the verifier and wrapping that the call requires to the reply in `out` from `begin` on. `more` bytes will
  // follow it. False: it cannot be done, and the reply is gone.
  bool wrap(const DecodedCall& call, ReplyBuffer& out, std::size_t begin, std::size_t more = 0) const;
  // A call that is not idempotent: false when it is not to be run, as it runs already or was answered before.
  bool begin_once(const CallKey& key, DecodedCall& call, Clock::time_point now, ReplyBuffer& at_once);
  // Appends one framed reply. Returns the outcome; when the call waits, what it leaves is in its tag, and no reply.
  Outcome append_reply(Connection& connection, wire::Record& record, DecodedCall& call, Clock::time_point now,
                       core::RequestKey request, core::PendingDurability* pending, ReplyBuffer& out, Reply& reply);
  // Runs its program.
  Outcome run_program(Connection& connection, wire::Record& record, DecodedCall& call, Clock::time_point now,
                      core::RequestKey request, core::PendingDurability* pending, Reply& reply);

  // What every call asks of a program, beside each other.
  struct Served {
    std::uint32_t number, version_low, version_high;
    std::span<const Procedure> procedures;
  };

  RpcProtocol& rpc_;
  const std::vector<Served> served_;  // as Programs::list
  const std::unique_ptr<Runner> runner_;
  std::uint64_t next_request_id_;
};

}  // namespace stoa::rpc
