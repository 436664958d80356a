#include "core/data/data_state.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "core/data/upload.h"

namespace stoa::core {

DataState::DataState(MetricRegistry& metrics)
    : verified_bytes(metrics.counter("stoa_checksum_verified_bytes_total", "Bytes compared with their checksums")),
      damaged_blocks(metrics.counter("stoa_checksum_mismatches_total", "Blocks that did not match their checksum")),
      recorded_files(
          metrics.counter("stoa_checksum_recorded_files_total", "Files whose checksums were recorded when quiet")),
      released_blobs(metrics.counter("stoa_gc_released_blobs_total", "Blobs given back to the blob store")) {
  metrics.gauge_callback("stoa_uploads", "Uploads in progress", {}, [this] {
    const std::lock_guard lock(uploads_mutex);
    return static_cast<double>(uploads.size());
  });
  metrics.gauge_callback("stoa_content_cache_bytes", "Memory for small values that were read lately",
                         {{"of", "content"}}, [this] { return static_cast<double>(inlines.bytes()); });
  metrics.gauge_callback("stoa_content_cache_bytes", "Memory for small values that were read lately",
                         {{"of", "object meta"}}, [this] { return static_cast<double>(metas.bytes()); });
  metrics.gauge_callback("stoa_lazy_files", "Files with writes that are not committed yet", {}, [this] {
    const std::lock_guard lock(lazy_mutex);
    return static_cast<double>(lazy.size());
  });
  metrics.gauge_callback("stoa_damaged_ranges", "Damaged ranges of files found since the start", {}, [this] {
    const std::lock_guard lock(damage_mutex_);
    return static_cast<double>(damage_.size());
  });
}

DataState::~DataState() = default;

bool DataState::add_damage(const Damage& damage) {
  const std::lock_guard lock(damage_mutex_);
  if (std::ranges::find(damage_, damage) != damage_.end()) return false;
  if (damage_.size() < kDamageMax) damage_.push_back(damage);
  return true;
}

std::vector<DataState::Damage> DataState::take_new_damage() {
  const std::lock_guard lock(damage_mutex_);
  STOA_ASSERT(damage_told_ <= damage_.size(), "what was told was found");
  const auto first = damage_.begin() + static_cast<std::ptrdiff_t>(std::exchange(damage_told_, damage_.size()));
  return {first, damage_.end()};
}

std::vector<DataState::Damage> DataState::damage() const {
  const std::lock_guard lock(damage_mutex_);
  return damage_;
}

}  // namespace stoa::core
