#include "core/api/event_log.h"

#include <algorithm>
#include <utility>

namespace stoa::core {
namespace {

Counter& counter(MetricRegistry& metrics, Severity severity) {
  return metrics.counter("stoa_events_total", "Events for the administrator",
                         {{"severity", std::string(to_string(severity))}});
}

}  // namespace

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kCritical:
      return "critical";
  }
  return "";
}

// Microseconds since 1970: more than any earlier run, which began earlier and had less than a million events a second.
EventLog::EventLog(MetricRegistry& metrics, const TimeSource& time)
    : infos_(counter(metrics, Severity::kInfo)),
      warnings_(counter(metrics, Severity::kWarning)),
      criticals_(counter(metrics, Severity::kCritical)),
      time_(time),
      newest_(static_cast<std::uint64_t>(std::max<std::int64_t>(time.wall().ns / 1000, 0))) {}

void EventLog::add(Severity severity, std::string what, std::string path, std::string message) {
  (severity == Severity::kInfo ? infos_ : severity == Severity::kWarning ? warnings_ : criticals_).add();
  const std::lock_guard lock(mutex_);
  events_.push_back({++newest_, time_.wall(), severity, std::move(what), std::move(path), std::move(message)});
  if (events_.size() > kEventsMax) events_.pop_front();
}

std::vector<Event> EventLog::after(std::uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  if (sequence > newest_) sequence = 0;  // of a run with another clock
  const auto first = std::ranges::upper_bound(events_, sequence, {}, &Event::sequence);
  return {first, events_.end()};
}

std::uint64_t EventLog::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

}  // namespace stoa::core
