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
constexpr auto kSealPeriod = std::chrono::seconds(15);
constexpr auto kScrubPeriod = std::chrono::hours(24);
constexpr auto kCountAgain = std::chrono::minutes(1);  // what failed

std::chrono::milliseconds flush_period(const VolumeOptions& options) {
  return std::chrono::milliseconds(std::max<std::uint32_t>(options.lazy_attributes_ms / 2, 100));
}

}  // namespace

Background::Background(Tree& tree, Registry& registry, Head& head, const qos::Pace::Surroundings& pace)
    : tree_(tree),
      registry_(registry),
      head_(head),
      flush_pace_(head.scheduler, pace),
      read_pace_(head.scheduler, pace),
      count_pace_(head.scheduler, pace),
      failures_(tree.metrics.counter("stoa_background_failures_total", "Rounds of background work that failed")),
      scrub_due_(std::chrono::steady_clock::now() + kScrubPeriod),
      flushing_(head.flushing.add(flush_period(tree.options), [this] { flush_and_free(); })),
      counting_(head.counting.add(kCountAgain, [this] { count_owners(); })) {
  if (tree.options.scrub_bytes_per_second != 0) reading_ = head.reading.add(kSealPeriod, [this] { read_at_leisure(); });
  tree.owner_count.on_wish = [this] { head_.counting.call(counting_); };
  head.counting.call(counting_);  // what a stop has broken off
}

Background::~Background() {
  flush_pace_.stop();
  read_pace_.stop();
  count_pace_.stop();
  tree_.owner_count.on_wish = nullptr;
  head_.flushing.remove(flushing_);
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
  // What waits for room is tried again although nobody asks for it.
  report(tree_.committer.wait_applied(), "changes wait to be written");
  report(flush_lazy(tree_, &flush_pace_), kFailed);
  report(store_quiet_sums(tree_, tree_.data->sums.crowded()), kFailed);
  report(sweep_orphans(tree_), kFailed);
  report(age_bins(tree_, wall_now(), &flush_pace_), kFailed);
  report(collect_garbage(tree_, &flush_pace_), kFailed);
  report(report_soft_limits(tree_), kFailed);
  if (std::chrono::steady_clock::now() >= forget_due_) {
    report(forget_gone_directories(tree_, registry_), kFailed);
    forget_due_ = std::chrono::steady_clock::now() + kForgetPeriod;
  }
  tell_damage(tree_);
  space_.look(tree_.blobs.space(), tree_.kv.has_room(), wall_now());
}

void Background::read_at_leisure() {
  Status done = seal_quiet_files(tree_, kQuietNs, &read_pace_);
  if (done && std::chrono::steady_clock::now() >= scrub_due_) {
    done = scrub_all(tree_, &read_pace_);
    scrub_due_ = std::chrono::steady_clock::now() + kScrubPeriod;
  }
  report(done, "a round of scrubbing failed");
}

void Background::count_owners() {
  report(count_all_owners(tree_, count_pace_), "counting what users and groups own failed; it is tried again");
}

}  // namespace stoa::core
