// The background work of a volume: one thread flushes lazy attributes and frees garbage, another records and verifies
// checksums at the pace that the options allow.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/namespace/tree.h"

namespace stoa::core {

class Background {
 public:
  explicit Background(Tree& tree)
      : tree_(tree),
        failures_(tree.metrics.counter("stoa_background_failures_total", "Rounds of background work that failed")),
        flusher_([this] { flush_and_free(); }),
        reader_([this] { read_at_leisure(); }) {}
  ~Background();

 private:
  void flush_and_free();
  void read_at_leisure();

  void report(const Status& done, std::string_view message);

  Tree& tree_;
  Counter& failures_;
  std::mutex mutex_;  // guards stop_
  std::condition_variable wake_;
  bool stop_ = false;
  std::atomic<bool> stopping_{false};
  std::thread flusher_;
  std::thread reader_;
};

}  // namespace stoa::core
