// The blocks compared with their checksums since the volume opened, so that hot data is not summed at every read.
// A bounded table: an evicted block is verified once more.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "base/chunked_table.h"
#include "core/blob/blob_store.h"

namespace stoa::core {

inline constexpr std::size_t kVerifiedRowsMax = 1u << 16;  // of 4 MiB each: 256 GiB

class VerifiedTable {
 public:
  VerifiedTable() : slots_(kVerifiedRowsMax) {}
  struct Known {
    std::uint64_t blocks = 0;  // one bit a block of the row
    std::uint32_t stamp = 0;   // changes whenever an entry is evicted here
  };
  Known blocks(BlobId blob, std::uint64_t row) const {
    const std::size_t at = place(blob, row);
    const std::lock_guard lock(mutex_of(at));
    const Slot* const slot = slots_.find(at);
    if (slot == nullptr) return {};
    return {slot->blob == blob && slot->row == row ? slot->blocks : 0, slot->stamp};
  }
  // Adds the blocks compared since blocks() returned `stamp`; void when any were forgotten since.
  void add(BlobId blob, std::uint64_t row, std::uint64_t blocks, std::uint32_t stamp) {
    const std::size_t at = place(blob, row);
    const std::lock_guard lock(mutex_of(at));
    Slot& slot = slots_.at(at);
    if (slot.stamp != stamp) return;
    if (slot.blob != blob || slot.row != row) slot = {blob, row, 0, stamp};
    slot.blocks |= blocks;
  }
  // The content of these blocks changes, or the blob goes.
  void forget(BlobId blob, std::uint64_t row, std::uint64_t blocks = ~std::uint64_t{0}) {
    const std::size_t at = place(blob, row);
    const std::lock_guard lock(mutex_of(at));
    Slot& slot = slots_.at(at);
    ++slot.stamp;
    if (slot.blob == blob && slot.row == row) slot.blocks &= ~blocks;
  }

 private:
  struct Slot {
    BlobId blob = kNoBlob;
    std::uint64_t row = 0;
    std::uint64_t blocks = 0;
    std::uint32_t stamp = 0;
  };
  static constexpr std::size_t kLocks = 64;
  static std::size_t place(BlobId blob, std::uint64_t row) {
    const std::uint64_t mixed =
        (static_cast<std::uint64_t>(blob) + row * 0xD6E8FEB86659FD93ULL) * 0x9E3779B97F4A7C15ULL;
    return (mixed >> 32) % kVerifiedRowsMax;
  }
  std::mutex& mutex_of(std::size_t at) const { return mutexes_[ChunkedTable<Slot>::chunk_of(at) % kLocks]; }

  mutable std::array<std::mutex, kLocks> mutexes_;
  ChunkedTable<Slot> slots_;
};

}  // namespace stoa::core
