// The metrics of a server, registered when it starts.
#pragma once

#include <string>

#include "base/metrics.h"

namespace stoa::wire {

struct ServerMetrics {
  // `name`: of the server, as in ServerOptions.
  ServerMetrics(MetricRegistry& registry, const std::string& name);

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
  Counter& closed_tls;
  Counter& tls;
  Counter& held_back;
  Counter& record_memory_waits;
  Counter& handed_over;
  Counter& parked;
  Counter& recall_waits;
  Counter& recall_waits_refused;
  Gauge& connections;
  Gauge& in_flight;
  Gauge& output_bytes;
  Gauge& record_bytes;
  Gauge& half_sent_bytes;
  Gauge& waiting;
  Gauge& waiting_bytes;

 private:
  ServerMetrics(MetricRegistry& registry, const std::string& name, const std::string& closed,
                const std::string& refused);
};

}  // namespace stoa::wire
