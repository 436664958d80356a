// Interface of an RPC program for the server that carries it. NFS version 3 and MOUNT are programs.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/api/context.h"
#include "core/api/io.h"
#include "frontends/nfs/rpc/message.h"
#include "frontends/nfs/rpc/xdr.h"
#include "frontends/wire/cost_class.h"
#include "frontends/wire/peer.h"
#include "frontends/wire/record_pool.h"

namespace stoa::rpc {

using wire::Charge;
using wire::CostClass;
using wire::Peer;
using wire::RecordMemory;

struct Procedure {
  std::string_view name{};  // for metrics; empty: there is no such procedure
  bool idempotent = true;   // as Program::idempotent()
};

// The way back to the client over the connection that its call came by: NFSv4 calls clients (RFC 8881 2.10.3.1).
class BackChannel {
 public:
  virtual ~BackChannel() = default;
  // The whole reply record; empty: the connection was closed before it came.
  using OnReply = std::function<void(std::span<const std::byte> reply)>;
  // Sends an RPC call, given from its xid on, which this sets. Thread-safe, does not block; `on_reply` is called once,
  // by any thread. False: the connection is gone or has too many calls outstanding, and `on_reply` will not be called.
  virtual bool call_back(std::vector<std::byte> record, OnReply on_reply) = 0;
  // False once it was closed, even if it is still referenced.
  virtual bool connected() const = 0;
  // To keep beyond the call.
  virtual std::weak_ptr<BackChannel> keep() = 0;
};

// The state that a program keeps of a call that waits for the recall of a lease, to be run again. Destroyed without
// that, it is as if the call had not come.
class KeptCall {
 public:
  virtual ~KeptCall() = default;
};

struct Call {
  const CallHeader& header;
  const Peer& peer;
  std::uint64_t request_id;
  std::chrono::steady_clock::time_point now;  // when the call was taken up
  // Not null: the call need not be durable on return (core::OpContext::defers), if the Scope hands over what to wait
  // for.
  core::PendingDurability* pending;
  BackChannel* back = nullptr;
  qos::Scheduler* scheduler = nullptr;  // for costs that charge() could not foresee; null: no request is held back
  RecordMemory* memory = nullptr;  // the memory of the call, if its own: it may be lent to a receiver that keeps it
  core::RequestKey request{};      // of a call that is not idempotent; for OpContext::request
  bool may_wait = false;           // it need not be answered when it meets a recall (Outcome::waits_for)
  std::unique_ptr<KeptCall>* kept = nullptr;  // not null if it may wait, or has waited: what it left then, to be taken
};

struct Reply {
  XdrWriter out;  // positioned behind the accepted header
  // Bytes that follow `out`, and the zero bytes (0 to 3) behind them. Only where they are taken.
  bool takes_slices = false;
  std::vector<core::DataSlice> slices{};
  std::uint32_t slice_bytes = 0;
};

struct Outcome {
  AcceptStatus accept = AcceptStatus::kSuccess;  // other values: the reply written so far is dropped
  bool failed = false;                           // the program's own status is an error; for metrics
  // The file whose lease is in the way of a call that may wait, and has changed nothing: it is run again when the
  // recall is answered. What was written to the reply is dropped.
  core::FileId waits_for = core::kNoFile;
};

// A program as the server sees it. Thread-safe; must outlive the server.
class Program {
 public:
  virtual ~Program() = default;
  virtual std::uint32_t number() const = 0;
  virtual std::string_view name() const = 0;  // for metrics
  virtual std::uint32_t version_low() const = 0;
  virtual std::uint32_t version_high() const = 0;
  virtual std::span<const Procedure> procedures() const = 0;  // by number
  // The procedure exists; its arguments may be garbage.
  virtual CostClass cost_class(const CallHeader& header) const = 0;
  // Whether running the call twice has the same effect as once. If not, its reply is kept in the duplicate request
  // cache; such a call must not be kData, kSync or kHeavy.
  virtual bool idempotent(const CallHeader& header) const { return procedures()[header.procedure].idempotent; }
  // Results that mean "not now, retry later". Only of calls that charge() has put a price on.
  virtual void encode_busy(const CallHeader&, XdrWriter&) {}
  // Results that report that the durability of the change is unknown, with the reason: the store failed while we
  // waited for it, or has no room.
  virtual void encode_not_durable(const CallHeader& header, Errc why, XdrWriter& out) = 0;
};

// Runs the programs of a server in one of its threads. `program` is an index in Programs::list.
class Runner {
 public:
  virtual ~Runner() = default;
  // Called before the calls of one receive are run.
  virtual void refresh() = 0;
  // Whether any call may have something to pay.
  virtual bool governs() const = 0;
  virtual void charge(std::size_t program, const Call& call, Charge& charge) = 0;
  virtual Outcome run(std::size_t program, const Call& call, Reply& reply) = 0;
};

// A call, with the state that its thread keeps between calls: contexts and snapshots that are expensive to make.
template <class Scope>
struct CallOf : Call {
  Scope& scope;
};

// A program whose calls need a Scope.
template <class Scope>
class ProgramOf : public Program {
 public:
  // Fills an empty `charge`. An unknown price (an invalid handle) is free: run() reports the error.
  virtual void charge(const CallOf<Scope>&, Charge&) {}
  virtual Outcome run(const CallOf<Scope>& call, Reply& reply) = 0;
};

// Scope has refresh() and governs() of a Runner, and hand_over(): adds what the last call has left to be made durable
// to a list, and forgets it.
template <class Scope>
class RunnerOf final : public Runner {
 public:
  RunnerOf(std::span<ProgramOf<Scope>* const> programs, std::unique_ptr<Scope> scope)
      : programs_(programs.begin(), programs.end()), scope_(std::move(scope)) {}
  void refresh() override { scope_->refresh(); }
  bool governs() const override { return scope_->governs(); }
  void charge(std::size_t program, const Call& call, Charge& charge) override {
    programs_[program]->charge({call, *scope_}, charge);
  }
  Outcome run(std::size_t program, const Call& call, Reply& reply) override {
    const Outcome outcome = programs_[program]->run({call, *scope_}, reply);
    if (call.pending != nullptr) scope_->hand_over(*call.pending);
    return outcome;
  }

 private:
  const std::vector<ProgramOf<Scope>*> programs_;
  const std::unique_ptr<Scope> scope_;
};

// The programs of one server, and their runner in each of its threads.
struct Programs {
  std::vector<Program*> list;
  std::function<std::unique_ptr<Runner>()> make_runner;
};
template <class Scope>
Programs programs_of(std::vector<ProgramOf<Scope>*> programs, std::function<std::unique_ptr<Scope>()> make_scope) {
  std::vector<Program*> list(programs.begin(), programs.end());
  return {std::move(list), [programs = std::move(programs), make_scope = std::move(make_scope)] {
            return std::make_unique<RunnerOf<Scope>>(programs, make_scope());
          }};
}

}  // namespace stoa::rpc
