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

// Facts on a call that go with it to another worker.
struct CallTag {
  std::shared_ptr<GssCall> gss{};  // not null: RPCSEC_GSS, and believed
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
  Status sync(const core::PendingDurability& pending) const { return service.sync(pending); }

  const Service service;
  CallMetrics metrics;
  DuplicateCache duplicates;
  std::optional<GssServer> gss;
};

}  // namespace stoa::rpc
