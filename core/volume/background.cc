#include "core/volume/background.h"

#include "base/log.h"
#include "core/data/data_state.h"
#include "core/data/gc.h"
#include "core/links/orphan.h"
#include "core/namespace/owner_count.h"
#include "core/namespace/quota.h"
#include "core/recycle/purge.h"
#include "core/volume/gone_directories.h"

namespace stoa::core {
namespace {

constexpr auto kForgetPeriod = std::chrono::hours(1);
constexpr auto kRecordPeriod = std::chrono::seconds(15);
constexpr auto kScrubPeriod = std::chrono::hours(24);
constexpr auto kAdoptAgain = std::chrono::minutes(1);  // after a failure
constexpr auto kCountAgain = std::chrono::minutes(1);  // after a failure

std::chrono::milliseconds flush_period(const VolumeOptions& options) {
  return std::chrono::milliseconds(std::max<std::uint32_t>(options.lazy_attributes_ms / 2, 100));
}

}  // namespace

Background::Background(VolumeContext& volume, Adoption& adoption, Registry& registry, Head& head,
                       const qos::BackgroundThrottle::PolicyContext& throttle)
    : volume_(volume),
      adoption_(adoption),
      registry_(registry),
      head_(head),
      adopt_pace_(head.scheduler, throttle),
      flush_pace_(head.scheduler, throttle),
      read_throttle_(head.scheduler, throttle),
      count_pace_(head.scheduler, throttle),
      failures_(volume.metrics.counter("stoa_background_failures_total", "Rounds of background work that failed")),
      scrub_due_(volume_.time.steady() + kScrubPeriod),
      adopting_(head.adopting.add(kAdoptAgain, [this] { adopt(); })),
      flushing_(head.flushing.add(flush_period(volume.options), [this] { flush_and_free(); })),
      counting_(head.counting.add(kCountAgain, [this] { count_owners(); })) {
  if (volume.options.scrub_bytes_per_second != 0)
    reading_ = head.reading.add(kRecordPeriod, [this] { read_at_leisure(); });
  volume.owner_count.on_request = [this] { head_.counting.call(counting_); };
  head.adopting.call(adopting_);
  head.counting.call(counting_);  // continues counting that a stop interrupted
}

Background::~Background() {
  adopt_pace_.stop();
  flush_pace_.stop();
  read_throttle_.stop();
  count_pace_.stop();
  volume_.owner_count.on_request = nullptr;
  head_.flushing.remove(flushing_);
  head_.adopting.remove(adopting_);
  if (reading_) head_.reading.remove(*reading_);
  head_.counting.remove(counting_);
}

void Background::report(const Status& done, std::string_view message) {
  if (done) return;
  failures_.add();
  log_error("background", message, {{"error", describe(done.error())}});
}

void Background::flush_and_free() {
  constexpr const char* kFailed = "a round of background work failed";
  // A group that waits for room is tried again even if no caller waits for it.
  report(volume_.committer.wait_applied(), "changes wait to be written");
  report(flush_lazy(volume_, &flush_pace_), kFailed);
  report(store_quiet_sums(volume_, volume_.data->sums.crowded()), kFailed);
  report(sweep_orphans(volume_), kFailed);
  report(age_bins(volume_, volume_.time.wall(), &flush_pace_), kFailed);
  volume_.state.send_recalls();  // those that a purge waits for: it is tried again in the next round
  report(collect_garbage(volume_, &flush_pace_), kFailed);
  report(report_soft_limits(volume_), kFailed);
  if (volume_.time.steady() >= forget_due_) {
    report(forget_gone_directories(volume_, registry_), kFailed);
    forget_due_ = volume_.time.steady() + kForgetPeriod;
  }
  tell_damage(volume_);
  space_.look(volume_.blobs.space(), volume_.kv.has_room(), volume_.time.wall());
}

void Background::read_at_leisure() {
  Status done = record_sums_of_quiet_files(volume_, kQuietNs, &read_throttle_);
  if (done && volume_.time.steady() >= scrub_due_) {
    done = scrub_all(volume_, &read_throttle_);
    scrub_due_ = volume_.time.steady() + kScrubPeriod;
  }
  report(done, "a round of scrubbing failed");
}

void Background::adopt() {
  if (adopted_) return;
  const Status done = adoption_.run(&adopt_pace_);
  report(done, "the blob store could not be told which blobs are in use; it is tried again");
  adopted_ = done.has_value();
}

void Background::count_owners() {
  report(count_all_owners(volume_, count_pace_), "counting what users and groups own failed; it is tried again");
}

}  // namespace stoa::core
