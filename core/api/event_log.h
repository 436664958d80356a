// Log of events for administrators: soft limits, finished counts of owners, damage, disks that fill up. Kept in
// memory, bounded to the newest ones. An event is its kind and facts; sentences are made where people read them.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/time_source.h"

namespace stoa::core {

enum class Severity : std::uint8_t { kInfo, kWarning, kCritical };
std::string_view to_string(Severity severity);  // "info", "warning", "critical"

enum class EventKind : std::uint8_t {
#define STOA_EVENT(name, word, facts) name,
#include "core/api/events.def"
#undef STOA_EVENT
};
std::size_t event_kind_count();
std::string_view to_string(EventKind kind);                // a stable word such as "soft_limit_passed"
std::vector<std::string_view> fact_names(EventKind kind);  // as core/api/events.def lists them

struct Event {
  std::uint64_t sequence = 0;  // grows, also over restarts (as far as the clock does)
  Timestamp time;
  Severity severity = Severity::kInfo;
  EventKind kind{};
  std::string path;                // raw bytes; empty: it is about no path
  std::vector<std::string> facts;  // in the order of fact_names()
};

// Thread-safe; nothing blocks.
class EventLog {
 public:
  static constexpr std::size_t kEventsMax = 1000;  // older ones are dropped

  // `time` must outlive it.
  explicit EventLog(MetricRegistry& metrics, const TimeSource& time = kSystemTime);

  // `facts`: one for each name of fact_names().
  void add(Severity severity, EventKind kind, std::string path, std::vector<std::string> facts = {});
  // Those with a greater sequence number, newest last.
  std::vector<Event> after(std::uint64_t sequence) const;
  // The number of the newest one that there ever was.
  std::uint64_t newest() const;

 private:
  Counter& infos_;
  Counter& warnings_;
  Counter& criticals_;
  const TimeSource& time_;
  mutable std::mutex mutex_;  // guards the members below
  std::uint64_t newest_;
  std::deque<Event> events_;
};

}  // namespace stoa::core
