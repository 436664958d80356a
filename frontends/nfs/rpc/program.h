// What an RPC program is to the server that carries it. NFS version 3 and MOUNT are programs.
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
#include "qos/flow.h"

namespace stoa::rpc {

// What running a call is likely to cost; decides which thread runs it and what waits for it.
enum class Weight : std::uint8_t {
  kMemory,  // answered from memory
  kChange,  // changes metadata: its reply waits for one sync, shared by all that came together
  kSync,    // makes file data durable: in place while that is quick, else by another worker
  kData,    // moves little data: in place while that is quick, else by another worker
  kHeavy,   // moves much data: by another worker when it did not come alone
};
inline constexpr std::size_t kWeights = 5;

struct Procedure {
  std::string_view name{};  // for metrics; empty: there is no such procedure
  bool idempotent = true;   // as Program::idempotent()
};

// The other end of a connection.
struct Peer {
  std::array<std::uint8_t, 16> address{};  // IPv4 as ::ffff:a.b.c.d
  std::string text;                        // for the log and the journal
};

// State that a worker thread keeps for the programs between calls (contexts and snapshots that are dear to make).
class WorkerScope {
 public:
  virtual ~WorkerScope() = default;
  // Called before the calls of one receive are run.
  virtual void refresh() = 0;
  // Whether any call may have something to pay (Program::charge).
  virtual bool governs() const { return false; }
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
  // False once it was closed, although somebody may hold on to it.
  virtual bool connected() const = 0;
  // To keep beyond the call.
  virtual std::weak_ptr<BackChannel> keep() = 0;
};

class RecordMemory;

struct Call {
  const CallHeader& header;
  const Peer& peer;
  WorkerScope& scope;
  std::uint64_t request_id;
  std::chrono::steady_clock::time_point now;  // when the call was taken up
  // Not null: the call need not be durable on return, if it leaves here what to wait for (core::OpContext::pending).
  core::PendingDurability* pending;
  BackChannel* back = nullptr;
  qos::Scheduler* scheduler = nullptr;  // for what charge() could not foresee; null: nobody is held back
  RecordMemory* memory =
      nullptr;                 // where the call lies, if in memory of its own: it may be lent to who wants to keep it
  core::RequestKey request{};  // of a call that is not idempotent; for OpContext::request
};

// What a call pays before it is run. The flows are valid until the scope's next refresh.
struct Charge {
  std::vector<qos::Flow*> path{};  // empty: nothing
  qos::Price price{};
};

struct Reply {
  XdrWriter out;  // stands behind the accepted header
  // Bytes that follow `out`, and the zero bytes (0 to 3) behind them. Only where they are taken.
  bool takes_slices = false;
  std::vector<core::DataSlice> slices{};
  std::uint32_t slice_bytes = 0;
};

struct Outcome {
  AcceptStatus accept = AcceptStatus::kSuccess;  // anything else: what was written to the reply is dropped
  bool failed = false;                           // the program's own status is an error; for metrics
};

// Thread-safe; must outlive the server.
class Program {
 public:
  virtual ~Program() = default;
  virtual std::uint32_t number() const = 0;
  virtual std::string_view name() const = 0;  // for metrics
  virtual std::uint32_t version_low() const = 0;
  virtual std::uint32_t version_high() const = 0;
  virtual std::span<const Procedure> procedures() const = 0;  // by number
  // The procedure exists; its arguments may be garbage.
  virtual Weight weigh(const CallHeader& header) const = 0;
  // Whether running the call twice does what running it once does. If not, its reply is kept in the duplicate request
  // cache; such a call must not weigh kData, kSync or kHeavy.
  virtual bool idempotent(const CallHeader& header) const { return procedures()[header.procedure].idempotent; }
  // Fills an empty `charge`. What cannot be told (a handle that is none) is free: run() will say what is wrong with it.
  virtual void charge(const Call&, Charge&) {}
  virtual Outcome run(const Call& call, Reply& reply) = 0;
  // Results that say "not now, ask again later". Only of calls that charge() has put a price on.
  virtual void encode_busy(const CallHeader&, XdrWriter&) {}
  // Results that say that the change is not known to be durable, and why: the store failed while we waited for it, or
  // has no room.
  virtual void encode_not_durable(const CallHeader& header, Errc why, XdrWriter& out) = 0;
};

}  // namespace stoa::rpc
