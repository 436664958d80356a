// Stored checksums of blobs: crc32c of each block of 64 KiB, in family checksum in rows of 64 blocks. A row is right
// after any crash: a sum leaves its row, durably, before bytes under it change. Bytes behind the end of a row were
// never written, or its blob has no row there. core/data/live_sums.h keeps those of blocks that are being written.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/blob/blob_store.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

class RecordChanges;

inline constexpr std::uint64_t kSumBlockBytes = 64u << 10;
inline constexpr std::uint64_t kSumRowBlocks = 64;
inline constexpr std::uint64_t kSumRowBytes = kSumBlockBytes * kSumRowBlocks;

// The checksums of the first `bytes` bytes of a blob.
struct BlobSums {
  BlobId blob = kNoBlob;
  std::uint64_t bytes = 0;
  std::vector<std::uint32_t> blocks;
};

// Sums bytes that come in order.
class BlockSummer {
 public:
  void add(std::span<const std::byte> bytes);
  BlobSums finish(BlobId blob) const;
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
  std::uint32_t current_ = 0;
  std::vector<std::uint32_t> blocks_;
};

struct SumRow {
  std::uint64_t bytes = 0;  // of the row that are covered; less than kSumRowBytes in the last one only
  std::uint64_t known = 0;  // one bit a block; other blocks are unknown
  std::array<std::uint32_t, kSumRowBlocks> sums{};

  bool operator==(const SumRow&) const = default;
  std::size_t blocks() const { return (bytes + kSumBlockBytes - 1) / kSumBlockBytes; }
  // The number of covered bytes of the block.
  std::uint64_t covered(std::size_t block) const {
    const std::uint64_t begin = block * kSumBlockBytes;
    return bytes <= begin ? 0 : std::min(kSumBlockBytes, bytes - begin);
  }
  std::string encode() const;
  static Result<SumRow> decode(std::string_view value);
};
// The blocks from `first` to `last`, both included, as bits.
inline std::uint64_t block_bits(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t count = last - first + 1;
  return (count == kSumRowBlocks ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << first;
}
void stage_sums(RecordChanges& changes, const BlobSums& sums);
// Removes every row of the blob.
Status stage_no_sums(KvReader& kv, RecordChanges& changes, BlobId blob);
// Drops the sums of blocks behind `bytes`. The sum of the block that this cuts is dropped, too.
Status stage_cut_sums(KvReader& kv, RecordChanges& changes, BlobId blob, std::uint64_t bytes);
Result<std::optional<SumRow>> load_sum_row(KvReader& kv, BlobId blob, std::uint64_t row);

}  // namespace stoa::core
