// The metrics of an RPC server, registered when it starts.
#pragma once

#include <map>
#include <vector>

#include "base/metrics.h"
#include "frontends/nfs/rpc/program.h"

namespace stoa::rpc {

struct ProcedureMetrics {
  Counter& requests;
  Counter& errors;
  Counter& bytes_in;
  Counter& bytes_out;
  Histogram& seconds;
};

struct ServerMetrics {
  ServerMetrics(MetricRegistry& registry, const std::vector<Program*>& programs);

  // Null for a procedure that does not exist.
  ProcedureMetrics* of(std::size_t program_index, std::uint32_t procedure) const {
    return procedures[program_index][procedure].get();
  }

  std::vector<std::vector<std::unique_ptr<ProcedureMetrics>>> procedures;  // by index of program, then number
  Counter& accepted;
  Counter& refused_total_limit;
  Counter& refused_address_limit;
  Counter& closed_protocol_error;
  Counter& closed_oversized;
  Counter& closed_record_timeout;
  Counter& closed_output_timeout;
  Counter& closed_idle_timeout;
  Counter& closed_gave_way;
  Counter& closed_half_sent;
  Counter& rejected_calls;
  Counter& held_back;
  Counter& record_memory_waits;
  Counter& handed_over;
  Counter& parked;
  Gauge& connections;
  Gauge& in_flight;
  Gauge& output_bytes;
  Gauge& record_bytes;
  Gauge& half_sent_bytes;
};

}  // namespace stoa::rpc
