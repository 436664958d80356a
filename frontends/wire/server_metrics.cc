#include "frontends/wire/server_metrics.h"

namespace stoa::wire {
namespace {

constexpr std::string_view kClosedHelp = "Connections that the server closed, by reason";
constexpr std::string_view kRefusedHelp = "Connections refused because a limit was reached";

}  // namespace

ServerMetrics::ServerMetrics(MetricRegistry& r, const std::string& name)
    : ServerMetrics(r, "stoa_" + name, "stoa_" + name + "_connections_closed_total",
                    "stoa_" + name + "_connections_refused_total") {}

ServerMetrics::ServerMetrics(MetricRegistry& r, const std::string& name, const std::string& closed,
                             const std::string& refused)
    : accepted(r.counter(name + "_connections_accepted_total", "Connections accepted")),
      refused_total_limit(r.counter(refused, kRefusedHelp, {{"limit", "connections"}})),
      refused_address_limit(r.counter(refused, kRefusedHelp, {{"limit", "connections_per_address"}})),
      closed_protocol_error(r.counter(closed, kClosedHelp, {{"reason", "protocol_error"}})),
      closed_oversized(r.counter(closed, kClosedHelp, {{"reason", "record_too_large"}})),
      closed_record_timeout(r.counter(closed, kClosedHelp, {{"reason", "record_timeout"}})),
      closed_output_timeout(r.counter(closed, kClosedHelp, {{"reason", "output_timeout"}})),
      closed_idle_timeout(r.counter(closed, kClosedHelp, {{"reason", "idle_timeout"}})),
      closed_gave_way(r.counter(closed, kClosedHelp, {{"reason", "gave_way"}})),
      closed_half_sent(r.counter(closed, kClosedHelp, {{"reason", "half_sent"}})),
      closed_tls(r.counter(closed, kClosedHelp, {{"reason", "tls_handshake"}})),
      tls(r.counter(name + "_connections_tls_total", "Connections that began with TLS")),
      held_back(r.counter(name + "_connections_held_back_total",
                          "Times a connection was not read until its calls or replies drained")),
      record_memory_waits(
          r.counter(name + "_record_memory_waits_total", "Times a connection waited for memory for a large record")),
      handed_over(r.counter(name + "_calls_handed_over_total", "Calls handed to another worker")),
      parked(r.counter(name + "_calls_parked_total", "Calls that waited for a QoS limit")),
      recall_waits(r.counter(name + "_recall_waits_total", "Times a call waited for the recall of a lease")),
      recall_waits_refused(r.counter(name + "_recall_waits_refused_total",
                                     "Calls that met a recall and were answered at once, as too many waited")),
      connections(r.gauge(name + "_connections", "Open connections")),
      in_flight(r.gauge(name + "_in_flight", "Calls handed to workers and not yet answered")),
      output_bytes(r.gauge(name + "_output_bytes", "Bytes of replies not yet taken by clients")),
      record_bytes(r.gauge(name + "_record_memory_bytes", "Memory of large records being received or run")),
      half_sent_bytes(
          r.gauge(name + "_half_sent_memory_bytes", "Memory of large records of which a part has not come yet")),
      waiting(r.gauge(name + "_recall_waiting", "Calls that wait for the recall of a lease")),
      waiting_bytes(r.gauge(name + "_recall_waiting_bytes", "Memory of calls that wait for the recall of a lease")) {}

}  // namespace stoa::wire
