#include "core/data/blob_pins.h"

#include "base/assert.h"

namespace stoa::core {

void BlobPins::add(BlobId blob) {
  STOA_ASSERT(blob != kNoBlob, "a hole is not held");
  Shard& shard = shards_[shard_of(blob)];
  const std::lock_guard lock(shard.mutex);
  ++shard.counts[blob];
}

void BlobPins::remove(BlobId blob) {
  Shard& shard = shards_[shard_of(blob)];
  const std::lock_guard lock(shard.mutex);
  const auto it = shard.counts.find(blob);
  STOA_ASSERT(it != shard.counts.end() && it->second > 0, "what is let go was held");
  if (--it->second == 0) shard.counts.erase(it);
}

bool BlobPins::pinned(BlobId blob) const {
  const Shard& shard = shards_[shard_of(blob)];
  const std::lock_guard lock(shard.mutex);
  return shard.counts.contains(blob);
}

void BlobPins::Hold::release() {
  if (pins_ == nullptr) return;
  for (const BlobId blob : blobs_) pins_->remove(blob);
  pins_.reset();
  blobs_.clear();
}

BlobPins::Hold BlobPins::hold(const std::shared_ptr<BlobPins>& pins, std::span<const Piece> pieces) {
  Hold hold;
  hold.pins_ = pins;
  for (const Piece& piece : pieces) {
    if (piece.hole()) continue;
    pins->add(piece.blob);
    hold.blobs_.push_back(piece.blob);
  }
  return hold;
}

BlobPins::Hold BlobPins::hold(const std::shared_ptr<BlobPins>& pins, std::span<const BlobId> blobs) {
  Hold hold;
  hold.pins_ = pins;
  for (const BlobId blob : blobs) pins->add(blob);
  hold.blobs_.assign(blobs.begin(), blobs.end());
  return hold;
}

}  // namespace stoa::core
