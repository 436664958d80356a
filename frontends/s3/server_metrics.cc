#include "frontends/s3/server_metrics.h"

namespace stoa::s3 {

ServerMetrics::ServerMetrics(MetricRegistry& registry) {
  for (std::size_t i = 0; i < kOperations; ++i) {
    const Labels labels{{"operation", std::string(to_string(static_cast<Operation>(i)))}};
    const auto with = [&](std::string kind) {
      Labels more = labels;
      more.emplace_back("class", std::move(kind));
      return more;
    };
    operations_[i] = {
        .requests = &registry.counter("stoa_s3_requests_total", "Requests of the S3 server.", labels),
        .client_errors = &registry.counter("stoa_s3_errors_total", "Requests answered with an error.", with("client")),
        .server_errors = &registry.counter("stoa_s3_errors_total", "Requests answered with an error.", with("server")),
        .bytes_received = &registry.counter("stoa_s3_received_bytes_total", "Bytes of request bodies.", labels),
        .bytes_sent = &registry.counter("stoa_s3_sent_bytes_total", "Bytes of response bodies.", labels),
        .seconds =
            &registry.histogram("stoa_s3_request_seconds", "From the headers to the end of the response.", labels)};
  }
  connections_ = &registry.gauge("stoa_s3_connections", "Open connections of the S3 server.");
  in_flight_ = &registry.gauge("stoa_s3_requests_in_flight", "Requests at hand in the S3 server.");
  timeouts_ = &registry.counter("stoa_s3_timeouts_total", "Connections cut off for being too slow.");
  gave_way_ =
      &registry.counter("stoa_s3_connections_gave_way_total", "Idle connections closed to make room for new ones.");
  refused_ = &registry.counter("stoa_s3_connections_refused_total", "New connections refused for want of room.");
}

}  // namespace stoa::s3
