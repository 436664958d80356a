// Adoption of blobs after a start: reports the blobs in use to the blob store, piece by piece beside requests. So the
// time of a start does not depend on the number of blobs. Until it is done, garbage is not collected, and new blobs lie
// apart from all that was there (core/blob/blob_store.h). No progress is stored: after a crash, the next start begins
// anew.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/txn/volume_context.h"
#include "qos/background_throttle.h"

namespace stoa::core {

class Adoption {
 public:
  // Takes a snapshot of the blobs in use: call it before any blob can be reserved. `finished` is called when the blob
  // store has adopted all of them. The volume must outlive it.
  Adoption(VolumeContext& volume, std::function<void()> finished);

  // All that is left. With a throttle it gives way to requests, and ends early when that is stopped. Thread-safe. On an
  // error it may be called again, and goes on where it was.
  Status run(qos::BackgroundThrottle* throttle = nullptr);

 private:
  // One piece. The number of its blobs; none: there is no piece left.
  Result<std::optional<std::size_t>> step();
  Result<std::size_t> adopt_piece();

  VolumeContext& volume_;
  const std::function<void()> finished_;
  Counter& told_;
  Gauge& running_;
  std::mutex mutex_;                // guards the members below
  std::unique_ptr<KvReader> then_;  // null: it is done
  std::size_t family_ = 0;          // the family being scanned
  std::string from_;                // go on there
};

// The same for a volume that is only verified: readable blobs are adopted, and nothing is freed.
void adopt_readable(VolumeContext& volume);

}  // namespace stoa::core
