#include "core/volume/space_watch.h"

#include <array>
#include <string>

#include "base/log.h"

namespace stoa::core {
namespace {

struct Step {
  std::uint64_t percent;
  Severity severity;
};
constexpr std::array<Step, 2> kSteps{{{80, Severity::kWarning}, {90, Severity::kCritical}}};
// So much must be free below a step before it counts as left: a disk that goes up and down at 80 % is told of once.
constexpr std::uint64_t kSlack = 2;

}  // namespace

void SpaceWatch::look(const BlobStore::Space& space) {
  if (space.total == 0) return;
  const std::uint64_t percent = 100 - static_cast<std::uint64_t>(100.0 * static_cast<double>(space.free) / static_cast<double>(space.total));
  std::size_t level = level_;
  while (level < kSteps.size() && percent > kSteps[level].percent) ++level;
  while (level > 0 && percent + kSlack <= kSteps[level - 1].percent) --level;
  if (level == level_) return;
  const std::string text = std::to_string(percent) + " % of the disks are full, " + std::to_string(space.free) + " bytes are free";
  if (level > level_) {
    log_warning("volume", "the disks fill up", {{"percent", percent}, {"free", space.free}});
    events_.add(kSteps[level - 1].severity, "space_low", "", text);
  } else {
    log_info("volume", "the disks have room again", {{"percent", percent}, {"free", space.free}});
    events_.add(Severity::kInfo, "space_regained", "", text);
  }
  level_ = level;
}

}  // namespace stoa::core
