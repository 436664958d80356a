#include "core/api/event_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "core/api/fact_names.h"

namespace stoa::core {
namespace {

Counter& counter(MetricRegistry& metrics, Severity severity) {
  return metrics.counter("stoa_events_total", "Events for the administrator",
                         {{"severity", std::string(to_string(severity))}});
}

struct KnownEvent {
  std::string_view word;
  std::string_view facts;
};

constexpr KnownEvent kEvents[] = {
#define STOA_EVENT(name, word, facts) {word, facts},
#include "core/api/events.def"
#undef STOA_EVENT
};

}  // namespace

std::size_t event_kind_count() {
  return std::size(kEvents);
}

std::string_view to_string(EventKind kind) {
  return kEvents[static_cast<std::size_t>(kind)].word;
}

std::vector<std::string_view> fact_names(EventKind kind) {
  return fact_names(kEvents[static_cast<std::size_t>(kind)].facts);
}

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

void EventLog::add(Severity severity, EventKind kind, std::string path, std::vector<std::string> facts) {
  STOA_ASSERT(facts.size() == fact_names(kind).size(), "an event has the facts of its kind");
  (severity == Severity::kInfo ? infos_ : severity == Severity::kWarning ? warnings_ : criticals_).add();
  const std::lock_guard lock(mutex_);
  events_.push_back({++newest_, time_.wall(), severity, kind, std::move(path), std::move(facts)});
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
