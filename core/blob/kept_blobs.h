// Interface of blob stores (core/blob/blob_store.h) that free after a start only as much as a crash leaves
// behind.
#pragma once

#include <cstdint>

#include "core/blob/blob_store.h"

namespace stoa::core {

// Unnamed blobs that finish_adoption() has kept because they are more than a small part. They take space, and
// for_each() visits them, until the store is opened with permission to free them.
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
