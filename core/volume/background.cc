#include "core/volume/background.h"

#include "base/log.h"
#include "core/data/data_state.h"
#include "core/data/gc.h"
#include "core/links/orphan.h"
#include "core/namespace/operations.h"
#include "core/namespace/owner_count.h"
#include "core/recycle/purge.h"
#include "core/volume/gone_directories.h"

namespace stoa::core {

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  flush_pace_.stop();
  read_pace_.stop();
  count_pace_.stop();
  wake_.notify_all();
  counter_.request_stop();
  flusher_.join();
  reader_.join();
  counter_.join();
}

void Background::report(const Status& done, std::string_view message) {
  if (done) return;
  failures_.add();
  log_error("background", message, {{"error", describe(done.error())}});
}

void Background::flush_and_free() {
  std::unique_lock lock(mutex_);
  const auto period = std::chrono::milliseconds(std::max<std::uint32_t>(volume_.options.lazy_attributes_ms / 2, 100));
  constexpr auto kForgetPeriod = std::chrono::hours(1);
  auto forget_due = std::chrono::steady_clock::now();
  while (!wake_.wait_for(lock, period, [this] { return stop_; })) {
    lock.unlock();
    constexpr const char* kFailed = "a round of background work failed";
    // What waits for room is tried again although nobody asks for it.
    report(volume_.committer.wait_applied(), "changes wait to be written");
    report(flush_lazy(volume_, &flush_pace_), kFailed);
    report(store_quiet_sums(volume_, volume_.data->sums.crowded()), kFailed);
    report(sweep_orphans(volume_), kFailed);
    report(age_bins(volume_, wall_now(), &flush_pace_), kFailed);
    report(collect_garbage(volume_, &flush_pace_), kFailed);
    report(report_soft_limits(volume_), kFailed);
    if (std::chrono::steady_clock::now() >= forget_due) {
      report(forget_gone_directories(volume_, registry_), kFailed);
      forget_due = std::chrono::steady_clock::now() + kForgetPeriod;
    }
    tell_damage(volume_);
    space_.look(volume_.blobs.space(), volume_.kv.has_room(), wall_now());
    lock.lock();
  }
}

void Background::read_at_leisure() {
  if (volume_.options.scrub_bytes_per_second == 0) return;
  constexpr auto kSealPeriod = std::chrono::seconds(15);
  constexpr auto kScrubPeriod = std::chrono::hours(24);
  auto scrub_due = std::chrono::steady_clock::now() + kScrubPeriod;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kSealPeriod, [this] { return stop_; })) {
    lock.unlock();
    Status done = seal_quiet_files(volume_, kQuietNs, &read_pace_);
    if (done && std::chrono::steady_clock::now() >= scrub_due) {
      done = scrub_all(volume_, &read_pace_);
      scrub_due = std::chrono::steady_clock::now() + kScrubPeriod;
    }
    report(done, "a round of scrubbing failed");
    lock.lock();
  }
}

void Background::count_when_asked(const std::stop_token& stop) {
  constexpr auto kAfterFailure = std::chrono::minutes(1);
  while (volume_.owner_count.wish.wait(stop)) {
    const Status done = count_all_owners(volume_, count_pace_);
    report(done, "counting what users and groups own failed; it is tried again");
    if (done) continue;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kAfterFailure, [this] { return stop_; });
  }
}

}  // namespace stoa::core
