#include "frontends/nfs/rpc/call_metrics.h"

namespace stoa::rpc {

CallMetrics::CallMetrics(MetricRegistry& r, const std::vector<Program*>& programs)
    : rejected(r.counter("stoa_nfs_rpc_rejected_total",
                         "Calls answered with an RPC error (unknown program, bad credential, garbage)")) {
  for (const Program* program : programs) {
    auto& list = procedures.emplace_back();
    for (const Procedure& procedure : program->procedures()) {
      if (procedure.name.empty()) {
        list.push_back(nullptr);
        continue;
      }
      const Labels labels{{"program", std::string(program->name())}, {"procedure", std::string(procedure.name)}};
      Labels in = labels;
      in.emplace_back("direction", "in");
      Labels out = labels;
      out.emplace_back("direction", "out");
      constexpr std::string_view kBytes = "stoa_nfs_bytes_total";
      constexpr std::string_view kBytesHelp = "Bytes of calls and replies";
      list.push_back(std::make_unique<ProcedureMetrics>(ProcedureMetrics{
          r.counter("stoa_nfs_requests_total", "Calls run", labels),
          r.counter("stoa_nfs_errors_total", "Calls answered with an error status", labels),
          r.counter(kBytes, kBytesHelp, in),
          r.counter(kBytes, kBytesHelp, out),
          r.histogram("stoa_nfs_request_seconds", "From taking up a call to its reply being ready, sync included",
                      labels),
      }));
    }
  }
}

}  // namespace stoa::rpc
