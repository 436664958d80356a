#include "core/volume/background.h"

#include "base/log.h"
#include "core/data/gc.h"
#include "core/namespace/operations.h"
#include "core/namespace/orphan.h"
#include "core/recycle/purge.h"

namespace stoa::core {

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopping_.store(true, std::memory_order_relaxed);
  wake_.notify_all();
  flusher_.join();
  reader_.join();
}

void Background::flush_and_free() {
  std::unique_lock lock(mutex_);
  const auto period = std::chrono::milliseconds(std::max<std::uint32_t>(tree_.options.lazy_attributes_ms / 2, 100));
  while (!wake_.wait_for(lock, period, [this] { return stop_; })) {
    lock.unlock();
    const auto purge = [](Tree& tree) { return age_bins(tree, wall_now()); };
    for (Status (*work)(Tree&) : {flush_lazy, sweep_orphans, +purge, collect_garbage, report_soft_limits}) {
      if (const Status done = work(tree_); !done) {
        log_error("background", "a round of background work failed", {{"error", describe(done.error())}});
      }
    }
    lock.lock();
  }
}

void Background::read_at_leisure() {
  if (tree_.options.scrub_bytes_per_second == 0) return;
  constexpr auto kSealPeriod = std::chrono::seconds(15);
  constexpr auto kScrubPeriod = std::chrono::hours(24);
  const std::function<bool()> stop = [this] { return stopping_.load(std::memory_order_relaxed); };
  auto scrub_due = std::chrono::steady_clock::now() + kScrubPeriod;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kSealPeriod, [this] { return stop_; })) {
    lock.unlock();
    Status done = seal_quiet_files(tree_, stop);
    if (done && std::chrono::steady_clock::now() >= scrub_due) {
      done = scrub_all(tree_, stop);
      scrub_due = std::chrono::steady_clock::now() + kScrubPeriod;
    }
    if (!done) log_error("background", "a round of scrubbing failed", {{"error", describe(done.error())}});
    lock.lock();
  }
}

}  // namespace stoa::core
