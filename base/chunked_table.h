// A fixed number of values, made in chunks at their first use: a large table costs nothing before it is filled.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/assert.h"

namespace stoa {

// Who uses a slot holds a lock that all slots of its chunk share.
template <class T>
class ChunkedTable {
 public:
  static constexpr std::size_t kChunkSlots = 256;

  // `size` > 0.
  explicit ChunkedTable(std::size_t size) : size_(size), chunks_((size + kChunkSlots - 1) / kChunkSlots) {
    STOA_ASSERT(size > 0, "a table has slots");
  }

  std::size_t size() const { return size_; }
  static std::size_t chunk_of(std::size_t slot) { return slot / kChunkSlots; }

  // Null: no slot of its chunk was used yet, so its value is T{}.
  const T* find(std::size_t slot) const {
    const auto& chunk = chunks_[chunk_of(slot)];
    return chunk == nullptr ? nullptr : &chunk[slot % kChunkSlots];
  }
  T& at(std::size_t slot) {
    auto& chunk = chunks_[chunk_of(slot)];
    if (chunk == nullptr) chunk = std::make_unique<T[]>(kChunkSlots);
    return chunk[slot % kChunkSlots];
  }

 private:
  const std::size_t size_;
  std::vector<std::unique_ptr<T[]>> chunks_;
};

}  // namespace stoa
