// Counters of the S3 server, one series for each operation.
#pragma once

#include <array>

#include "base/metrics.h"
#include "frontends/s3/operation.h"

namespace stoa::s3 {

struct OperationMetrics {
  Counter* requests = nullptr;
  Counter* client_errors = nullptr;  // 4xx
  Counter* server_errors = nullptr;  // 5xx
  Counter* bytes_received = nullptr;
  Counter* bytes_sent = nullptr;
  Histogram* seconds = nullptr;
};

class ServerMetrics {
 public:
  explicit ServerMetrics(MetricRegistry& registry);
  const OperationMetrics& of(Operation operation) const { return operations_[static_cast<std::size_t>(operation)]; }
  Gauge& connections() { return *connections_; }
  Gauge& in_flight() { return *in_flight_; }
  Counter& timeouts() { return *timeouts_; }
  Counter& gave_way() { return *gave_way_; }
  Counter& refused() { return *refused_; }

 private:
  std::array<OperationMetrics, kOperations> operations_;
  Gauge* connections_;
  Gauge* in_flight_;
  Counter* timeouts_;
  Counter* gave_way_;
  Counter* refused_;
};

}  // namespace stoa::s3
