#include "backends/blob/local/written_cache.h"

#include <algorithm>

#include "base/assert.h"

namespace stoa::blob_local {

WrittenCache::WrittenCache(std::uint64_t bytes_max, MetricRegistry& metrics)
    : bytes_max_(bytes_max),
      held_gauge_(metrics.gauge("stoa_blob_written_cache_bytes",
                                "Memory of large writes that is kept for who reads them right after")),
      given_(
          metrics.counter("stoa_blob_written_cache_read_bytes_total", "Bytes read from the memory of large writes")) {}

WrittenCache::~WrittenCache() {
  STOA_ASSERT(changes_.empty());
  held_gauge_.add(-static_cast<std::int64_t>(held_bytes_));
}

WrittenCache::Ranges::iterator WrittenCache::first_behind(core::BlobId blob, std::uint64_t offset) {
  auto range = ranges_.upper_bound({blob, offset});
  if (range == ranges_.begin()) return range;
  const auto before = std::prev(range);
  return before->first.blob == blob && before->first.offset + before->second.bytes.size() > offset ? before : range;
}

WrittenCache::Change::Change(WrittenCache& cache, core::BlobId blob, std::uint64_t offset, std::uint64_t length)
    : cache_(cache), blob_(blob), from_(offset), to_(offset + length) {
  if (cache_.bytes_max_ == 0) return;
  const std::lock_guard lock(cache_.mutex_);
  auto range = cache_.first_behind(blob_, from_);
  while (range != cache_.ranges_.end() && range->first.blob == blob_ && range->first.offset < to_) {
    range = cache_.ranges_.erase(range);
    cache_.size_.fetch_sub(1, std::memory_order_relaxed);
  }
  for (Change* other : cache_.changes_) {
    if (other->blob_ == blob_ && other->from_ < to_ && from_ < other->to_) other->crossed_ = crossed_ = true;
  }
  cache_.changes_.push_back(this);
}

WrittenCache::Change::~Change() {
  if (cache_.bytes_max_ == 0) return;
  const std::lock_guard lock(cache_.mutex_);
  std::erase(cache_.changes_, this);
}

void WrittenCache::Change::keep(std::span<const std::byte> bytes, const core::LentMemory& memory) {
  STOA_ASSERT(bytes.size() == to_ - from_);
  if (memory.bytes > cache_.bytes_max_) return;
  std::vector<Held> oldest;  // given back without the lock
  const std::lock_guard lock(cache_.mutex_);
  if (crossed_) return;
  const Key key{blob_, from_};
  cache_.ranges_.emplace(key, Range{bytes, memory.owner});
  cache_.size_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t before = cache_.held_bytes_;
  cache_.held_.push_back({memory, key});
  cache_.held_bytes_ += memory.bytes;
  while (cache_.held_bytes_ > cache_.bytes_max_) {
    Held& held = oldest.emplace_back(std::move(cache_.held_.front()));
    cache_.held_.pop_front();
    cache_.held_bytes_ -= held.memory.bytes;
    const auto range = cache_.ranges_.find(held.range);
    if (range == cache_.ranges_.end() || range->second.memory != held.memory.owner) continue;
    cache_.ranges_.erase(range);
    cache_.size_.fetch_sub(1, std::memory_order_relaxed);
  }
  cache_.held_gauge_.add(static_cast<std::int64_t>(cache_.held_bytes_) - static_cast<std::int64_t>(before));
}

std::vector<core::DataSlice> WrittenCache::find(core::BlobId blob, std::uint64_t offset, std::uint64_t length) {
  std::vector<core::DataSlice> slices;
  if (length == 0 || size_.load(std::memory_order_relaxed) == 0) return slices;
  const std::uint64_t end = offset + length;
  const std::lock_guard lock(mutex_);
  auto range = first_behind(blob, offset);
  for (std::uint64_t at = offset; at < end; ++range) {
    if (range == ranges_.end() || range->first.blob != blob || range->first.offset > at) return {};
    const auto behind = range->second.bytes.subspan(at - range->first.offset);
    const auto bytes = behind.first(std::min<std::uint64_t>(behind.size(), end - at));
    slices.push_back({.bytes = bytes, .length = bytes.size(), .keep = range->second.memory});
    at += bytes.size();
  }
  given_.add(length);
  return slices;
}

}  // namespace stoa::blob_local
