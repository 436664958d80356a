// ONC RPC as a protocol of frontends/wire.
#pragma once

#include <memory>
#include <optional>

#include "frontends/nfs/rpc/back_calls.h"
#include "frontends/nfs/rpc/call_metrics.h"
#include "frontends/nfs/rpc/duplicate_cache.h"
#include "frontends/nfs/rpc/gss_server.h"
#include "frontends/nfs/rpc/record_mark.h"
#include "frontends/nfs/rpc/server.h"

namespace stoa::rpc {

class CallHandler;

// The parts of a call that must not be done twice when it waits for a recall and is run again.
class WaitingCall {
 public:
  explicit WaitingCall(DuplicateCache& duplicates) : duplicates_(duplicates) {}
  ~WaitingCall() {
    if (duplicate) duplicates_.forget(*duplicate);
  }
  WaitingCall(const WaitingCall&) = delete;

  std::optional<DuplicateCache::Ticket> duplicate{};  // sent again, the call is dropped as long as this one waits
  std::unique_ptr<KeptCall> kept{};

 private:
  DuplicateCache& duplicates_;
};

// What is known of a call, and goes with it to another worker.
struct CallTag {
  std::shared_ptr<GssCall> gss{};         // not null: RPCSEC_GSS, and believed
  std::shared_ptr<WaitingCall> waited{};  // not null: it waited for a recall
};

// A call of a receive, header decoded.
struct DecodedCall {
  CallTag tag{};
  CallHeader header{};
  std::size_t program = 0;  // in Programs::list
  ProcedureMetrics* metrics = nullptr;
  wire::CostClass cost_class = wire::CostClass::kMemory;
  bool idempotent = true;
  bool exclusive = false;  // makes a context of RPCSEC_GSS: the mechanism takes one step at a time
  bool free = false;       // RPCSEC_GSS control calls to the server itself: no program is run
  bool may_wait = false;
  core::FileId waits_for = core::kNoFile;
  std::optional<DuplicateCache::Ticket> duplicate{};  // its reply is to be kept
  bool ends_context() const { return free && !exclusive; }
};

struct RpcProtocol {
  using Session = BackCalls;
  using Tag = CallTag;
  using Request = DecodedCall;
  using Handler = CallHandler;

  RpcProtocol(const ServerOptions& options, Service carried, MetricRegistry& registry)
      : service(std::move(carried)),
        metrics(registry, service.programs.list),
        duplicates(options.duplicates, registry) {
    if (service.gss != nullptr) gss.emplace(*service.gss, options.gss, registry);
  }

  wire::Framer framer() const { return record_framer(service.payload_offset); }
  qos::Scheduler* scheduler() const { return service.scheduler; }
  core::StateTable* state() const { return service.state; }
  std::shared_ptr<const tls::Context> tls() const { return nullptr; }
  Status sync(const core::PendingDurability& pending) const { return service.sync(pending); }

  const Service service;
  CallMetrics metrics;
  DuplicateCache duplicates;
  std::optional<GssServer> gss;
};

}  // namespace stoa::rpc
