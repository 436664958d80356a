// Blob stores (core/blob/blob_store.h) that let go only what a crash leaves behind are this, too.
#pragma once

#include <cstdint>

#include "core/blob/blob_store.h"

namespace stoa::core {

// What finish_adoption() has kept although nobody named it, for being more than a small part: it takes space, and
// for_each() visits it, until somebody opens the store who lets it go.
struct KeptBlobs {
  std::uint64_t blobs = 0, bytes = 0;
};

class KeepsBlobs {
 public:
  virtual ~KeepsBlobs() = default;
  virtual KeptBlobs kept() const = 0;
};

inline KeptBlobs kept_blobs(const BlobStore& store) {
  const auto* const keeper = dynamic_cast<const KeepsBlobs*>(&store);
  return keeper == nullptr ? KeptBlobs{} : keeper->kept();
}

}  // namespace stoa::core
