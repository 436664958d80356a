// Traffic of each protocol, for clients that poll every few seconds and compute rates from two answers.
#include <algorithm>

#include "frontends/admin/query.h"
#include "frontends/admin/routes.h"
#include "frontends/admin/views.h"
#include "qos/scheduler.h"

namespace stoa::admin {
namespace {

// The counters of a protocol.
struct ProtocolMetrics {
  std::string_view protocol, operations, errors;
  std::string_view received, sent;  // families of bytes
  std::string_view seconds;
};
constexpr ProtocolMetrics kProtocolMetrics[] = {
    {"nfs", "stoa_nfs_requests_total", "stoa_nfs_errors_total", "stoa_nfs_bytes_total", "stoa_nfs_bytes_total",
     "stoa_nfs_request_seconds"},
    {"s3", "stoa_s3_requests_total", "stoa_s3_errors_total", "stoa_s3_received_bytes_total", "stoa_s3_sent_bytes_total",
     "stoa_s3_request_seconds"},
};

// One family may count both directions, separated by a label.
std::uint64_t bytes(const MetricRegistry& metrics, std::string_view family, std::string_view other,
                    const char* direction) {
  return metrics.counter_sum(family, family == other ? Labels{{"direction", direction}} : Labels{});
}

// In microseconds, as if the requests of a bucket were spread over it evenly.
Json quantile(const Histogram::Snapshot& seen, double share) {
  if (seen.total == 0) return {};
  const double wanted = share * static_cast<double>(seen.total);
  double before = 0;
  for (std::size_t i = 0; i < seen.counts.size(); ++i) {
    const auto here = static_cast<double>(seen.counts[i]);
    if (here > 0 && before + here >= wanted) {
      const double low = i == 0 ? 0 : static_cast<double>(std::uint64_t{1} << (i - 1));
      const double high = static_cast<double>(std::uint64_t{1} << i);
      return low + (high - low) * (wanted - before) / here;
    }
    before += here;
  }
  return static_cast<double>(std::uint64_t{1} << (seen.counts.size() - 1));
}

Json protocol_view(const MetricRegistry& metrics, const ProtocolMetrics& of) {
  const Histogram::Snapshot seen = metrics.histogram_sum(of.seconds);
  return {{"name", of.protocol},
          {"operations", metrics.counter_sum(of.operations)},
          {"errors", metrics.counter_sum(of.errors)},
          {"bytes_written", bytes(metrics, of.received, of.sent, "in")},
          {"bytes_read", bytes(metrics, of.sent, of.received, "out")},
          {"latency", {{"p50", quantile(seen, 0.5)}, {"p99", quantile(seen, 0.99)}, {"counts", seen.counts}}}};
}

}  // namespace

JsonResult get_activity(Service& service, const Request& request) {
  STOA_CHECK_OK(allow_query(request, {}));
  STOA_TRY(room, service.volume.ns().statfs(request.context(), {.id = core::kRootId}));
  const core::BlobStore::Space disks = service.space();
  Json protocols = Json::array();
  for (const ProtocolStatus& protocol : service.protocols()) {
    const auto of = std::ranges::find(kProtocolMetrics, protocol.name, &ProtocolMetrics::protocol);
    if (protocol.open && of != std::end(kProtocolMetrics)) protocols.push_back(protocol_view(service.metrics, *of));
  }
  return Json{{"time", time_text(wall_now())},
              {"time_ns", qos::steady_ns()},
              {"capacity",
               {{"total", disks.total},
                {"used", disks.total - disks.free},
                {"free", disks.free},
                {"available", available(disks, room)}}},
              {"protocols", std::move(protocols)}};
}

}  // namespace stoa::admin
