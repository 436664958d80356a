#include "core/head/head.h"

namespace stoa::core {

Head::Head(MetricRegistry& metrics)
    : events(metrics),
      scheduler(
          {}, qos::steady_ns,
          {.parked = &metrics.counter("stoa_qos_parked_total", "Requests that waited for a QoS limit"),
           .busy = &metrics.counter("stoa_qos_busy_total",
                                    "Requests that were answered busy because too many waited, or for too long")}),
      metrics_(metrics, {}),
      admission_([this](const std::stop_token& stop) { scheduler.keep_serving(stop); }) {
  metrics_.gauge_callback("stoa_qos_parked_requests", "Requests that wait for a QoS limit", {},
                          [this] { return static_cast<double>(scheduler.parked()); });
}

Head::~Head() {
  metrics_.drop_callbacks();
}

}  // namespace stoa::core
