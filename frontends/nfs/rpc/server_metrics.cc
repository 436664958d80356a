#include "frontends/nfs/rpc/server_metrics.h"

namespace stoa::rpc {
namespace {

constexpr std::string_view kClosed = "stoa_nfs_connections_closed_total";
constexpr std::string_view kClosedHelp = "Connections that the server closed, by reason";
constexpr std::string_view kRefused = "stoa_nfs_connections_refused_total";
constexpr std::string_view kRefusedHelp = "Connections refused because a limit was reached";

}  // namespace

ServerMetrics::ServerMetrics(MetricRegistry& r, const std::vector<Program*>& programs)
    : accepted(r.counter("stoa_nfs_connections_accepted_total", "Connections accepted")),
      refused_total_limit(r.counter(kRefused, kRefusedHelp, {{"limit", "connections"}})),
      refused_address_limit(r.counter(kRefused, kRefusedHelp, {{"limit", "connections_per_address"}})),
      closed_protocol_error(r.counter(kClosed, kClosedHelp, {{"reason", "protocol_error"}})),
      closed_oversized(r.counter(kClosed, kClosedHelp, {{"reason", "record_too_large"}})),
      closed_record_timeout(r.counter(kClosed, kClosedHelp, {{"reason", "record_timeout"}})),
      closed_output_timeout(r.counter(kClosed, kClosedHelp, {{"reason", "output_timeout"}})),
      closed_idle_timeout(r.counter(kClosed, kClosedHelp, {{"reason", "idle_timeout"}})),
      closed_gave_way(r.counter(kClosed, kClosedHelp, {{"reason", "gave_way"}})),
      closed_half_sent(r.counter(kClosed, kClosedHelp, {{"reason", "half_sent"}})),
      rejected_calls(r.counter("stoa_nfs_rpc_rejected_total",
                               "Calls answered with an RPC error (unknown program, bad credential, garbage)")),
      held_back(r.counter("stoa_nfs_connections_held_back_total",
                          "Times a connection was not read until its calls or replies drained")),
      record_memory_waits(
          r.counter("stoa_nfs_record_memory_waits_total", "Times a connection waited for memory for a large record")),
      handed_over(r.counter("stoa_nfs_calls_handed_over_total", "Calls handed to another worker")),
      parked(r.counter("stoa_nfs_calls_parked_total", "Calls that waited for a QoS ceiling")),
      connections(r.gauge("stoa_nfs_connections", "Open connections")),
      in_flight(r.gauge("stoa_nfs_in_flight", "Calls handed to workers and not yet answered")),
      output_bytes(r.gauge("stoa_nfs_output_bytes", "Bytes of replies not yet taken by clients")),
      record_bytes(r.gauge("stoa_nfs_record_memory_bytes", "Memory of large records being received or run")),
      half_sent_bytes(
          r.gauge("stoa_nfs_half_sent_memory_bytes", "Memory of large records of which a part has not come yet")) {
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
