#include "core/volume/space_watch.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"

namespace stoa::core {
namespace {

struct Step {
  std::uint64_t percent;
  Severity severity;
};
constexpr std::array<Step, 2> kSteps{{{80, Severity::kWarning}, {90, Severity::kCritical}}};
// This much must be free below a step before it counts as left: a disk that goes up and down at 80 % is reported
// once.
constexpr std::uint64_t kSlack = 2;

}  // namespace

bool SpaceWatch::Level::moves(std::size_t now_at, Timestamp now) {
  if (now_at >= told) {
    below_since.reset();
    if (now_at == told) return false;
  } else {
    if (!below_since) below_since = now;
    if (now.ns - below_since->ns < kQuietNs) return false;
    below_since.reset();
  }
  told = now_at;
  return true;
}

void SpaceWatch::look(const BlobStore::Space& space, bool metadata_has_room, Timestamp now) {
  look_at_disks(space, now);
  if (!metadata_.moves(metadata_has_room ? 0 : 1, now)) return;
  if (metadata_has_room) {
    events_.add(Severity::kInfo, EventKind::kGrowthAccepted, "");
  } else {
    events_.add(Severity::kCritical, EventKind::kGrowthRefused, "");
  }
}

void SpaceWatch::look_at_disks(const BlobStore::Space& space, Timestamp now) {
  if (space.total == 0) return;
  const std::uint64_t percent =
      100 - static_cast<std::uint64_t>(100.0 * static_cast<double>(space.free) / static_cast<double>(space.total));
  const std::size_t before = disks_.told;
  std::size_t level = before;
  while (level < kSteps.size() && percent > kSteps[level].percent) ++level;
  while (level > 0 && percent + kSlack <= kSteps[level - 1].percent) --level;
  if (!disks_.moves(level, now)) return;
  std::vector<std::string> facts{std::to_string(percent), std::to_string(space.free)};
  if (level > before) {
    log_warning("volume", "the disks fill up", {{"percent", percent}, {"free", space.free}});
    events_.add(kSteps[level - 1].severity, EventKind::kSpaceLow, "", std::move(facts));
  } else {
    log_info("volume", "the disks have room again", {{"percent", percent}, {"free", space.free}});
    events_.add(Severity::kInfo, EventKind::kSpaceRegained, "", std::move(facts));
  }
}

}  // namespace stoa::core
