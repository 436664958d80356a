// Blobs that no record names, and that are not lost: reserved and in no committed layout yet, or being freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/rw_lock.h"
#include "core/kv/blob_id.h"

namespace stoa::core {

// Thread-safe.
class BlobsInFlight {
 public:
  // Held shared while a blob is reserved, from before the store has it until it is tracked. The verifier waits here
  // for running reservations, and blocks new ones while it looks at one blob.
  RwLock allocation_lock;

  // Counted: the place of a freed blob may be reserved again before untrack() reports its end.
  void track(BlobId blob);
  void untrack(BlobId blob);  // a layout names it now, or the store has released it; nothing when it is not tracked
  // It will not be committed: the next round of gc releases it once it is not pinned. Nothing when it is not tracked:
  // its commit was queued, and although waiting for it failed, a record may name the blob after the next start.
  void abandon(BlobId blob);
  std::vector<BlobId> take_abandoned();
  bool tracked(BlobId blob) const;

  // Set when something may have come into the gc queue.
  std::atomic<bool> garbage{true};

 private:
  mutable std::mutex mutex_;  // guards the members below
  std::unordered_map<BlobId, std::uint32_t> tracked_;
  std::vector<BlobId> abandoned_;
};

}  // namespace stoa::core
