// The state shared by all volumes of one process: the log of events, the scheduler of requests with its serving thread,
// and the threads of background work.
#pragma once

#include <thread>

#include "base/metrics.h"
#include "core/api/event_log.h"
#include "core/head/rounds.h"
#include "qos/scheduler.h"

namespace stoa::core {

// Outlives the volumes that are opened with it.
class Head {
 public:
  explicit Head(MetricRegistry& metrics);
  ~Head();
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;

  EventLog events;
  qos::Scheduler scheduler;
  // Urgent work; background reads, paced by the disk; counts of owners, which are rare.
  Rounds flushing{4};
  Rounds reading{2};
  Rounds counting{1};
  Rounds adopting{4};  // once after the start of each volume

 private:
  MetricRegistry metrics_;  // this head's part
  std::jthread admission_;  // last: it goes first
};

}  // namespace stoa::core
