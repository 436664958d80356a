// The metrics of calls, registered when a server starts.
#pragma once

#include <memory>
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

struct CallMetrics {
  CallMetrics(MetricRegistry& registry, const std::vector<Program*>& programs);

  // Null for a procedure that does not exist.
  ProcedureMetrics* of(std::size_t program_index, std::uint32_t procedure) const {
    return procedures[program_index][procedure].get();
  }

  std::vector<std::vector<std::unique_ptr<ProcedureMetrics>>> procedures;  // by index of program, then number
  Counter& rejected;
};

}  // namespace stoa::rpc
