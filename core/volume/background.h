// The background work of a volume: one thread flushes lazy attributes, frees garbage, forgets what was set on
// directories that are gone, and tells events, another records and verifies checksums at the rate that the options
// allow, a third counts what users and groups own where that is asked for. All give way to requests (qos/pace.h).
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/api/registry.h"
#include "core/txn/volume_context.h"
#include "core/volume/space_watch.h"
#include "qos/pace.h"

namespace stoa::core {

class Background {
 public:
  // `registry`, `scheduler` and all that the pace asks for must outlive it.
  Background(VolumeContext& volume, Registry& registry, qos::Scheduler& scheduler,
             const qos::BackgroundThrottle::PolicyContext& pace)
      : volume_(volume),
        registry_(registry),
        flush_pace_(scheduler, pace),
        read_pace_(scheduler, pace),
        count_pace_(scheduler, pace),
        failures_(volume.metrics.counter("stoa_background_failures_total", "Rounds of background work that failed")),
        flusher_([this] { flush_and_free(); }),
        reader_([this] { read_at_leisure(); }),
        counter_([this](const std::stop_token& stop) { count_when_asked(stop); }) {}
  ~Background();

 private:
  void flush_and_free();
  void read_at_leisure();
  void count_when_asked(const std::stop_token& stop);

  void report(const Status& done, std::string_view message);

  VolumeContext& volume_;
  Registry& registry_;
  SpaceWatch space_{volume_.events};
  qos::BackgroundThrottle flush_pace_;
  qos::BackgroundThrottle read_pace_;
  qos::BackgroundThrottle count_pace_;
  Counter& failures_;
  std::mutex mutex_;  // guards stop_
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread flusher_;
  std::thread reader_;
  std::jthread counter_;
};

}  // namespace stoa::core
