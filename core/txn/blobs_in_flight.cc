#include "core/txn/blobs_in_flight.h"

#include <utility>

#include "base/assert.h"

namespace stoa::core {

void BlobsInFlight::track(BlobId blob) {
  STOA_ASSERT(blob != kNoBlob, "a blob that is under way has a number");
  const std::lock_guard lock(mutex_);
  ++tracked_[blob];
}

void BlobsInFlight::untrack(BlobId blob) {
  const std::lock_guard lock(mutex_);
  const auto it = tracked_.find(blob);
  if (it == tracked_.end()) return;
  STOA_ASSERT(it->second > 0, "a blob that is tracked is counted");
  if (--it->second == 0) tracked_.erase(it);
}

void BlobsInFlight::abandon(BlobId blob) {
  const std::lock_guard lock(mutex_);
  if (tracked_.contains(blob)) abandoned_.push_back(blob);
}

std::vector<BlobId> BlobsInFlight::take_abandoned() {
  const std::lock_guard lock(mutex_);
  return std::exchange(abandoned_, {});
}

bool BlobsInFlight::tracked(BlobId blob) const {
  const std::lock_guard lock(mutex_);
  return tracked_.contains(blob);
}

}  // namespace stoa::core
