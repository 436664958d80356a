// Checksums of blobs: crc32c of each block of 64 KiB, kept in family checksum in rows of 64 blocks. A blob has either no rows
// or rows for all its bytes up to the end of what was recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/data/blob_store.h"
#include "core/kv/kv_store.h"

namespace stoa::core {

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
  std::vector<std::uint32_t> blocks;
  std::string encode() const;
  static Result<SumRow> decode(std::string_view value);
};
std::string sum_row_key(BlobId blob, std::uint64_t row);

void stage_sums(WriteBatch& batch, const BlobSums& sums);
// Removes every row of the blob.
Status stage_no_sums(KvReader& kv, WriteBatch& batch, BlobId blob);
Result<std::optional<SumRow>> load_sum_row(KvStore& kv, BlobId blob, std::uint64_t row);

}  // namespace stoa::core
