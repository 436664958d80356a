#include "core/data/block_sums.h"

#include <algorithm>

#include "base/crc32c.h"
#include "core/kv/codec.h"
#include "core/kv/keys.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kVersion = 1;
}

void BlockSummer::add(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t room = kSumBlockBytes - bytes_ % kSumBlockBytes;
    const auto part = bytes.first(std::min<std::uint64_t>(room, bytes.size()));
    current_ = crc32c(part, current_);
    bytes_ += part.size();
    bytes = bytes.subspan(part.size());
    if (bytes_ % kSumBlockBytes == 0) {
      blocks_.push_back(current_);
      current_ = 0;
    }
  }
}

BlobSums BlockSummer::finish(BlobId blob) const {
  BlobSums sums{blob, bytes_, blocks_};
  if (bytes_ % kSumBlockBytes != 0) sums.blocks.push_back(current_);
  return sums;
}

std::string SumRow::encode() const {
  Encoder out;
  out.put_varint(bytes).put_varint(blocks.size());
  for (const std::uint32_t sum : blocks) out.put(sum);
  return seal(kVersion, kVersion, out.bytes());
}

Result<SumRow> SumRow::decode(std::string_view value) {
  Decoder in(unseal(value, kVersion).body);
  SumRow row;
  row.bytes = in.get_varint();
  const std::uint64_t count = in.get_varint();
  if (!in.ok() || count > kSumRowBlocks || (row.bytes + kSumBlockBytes - 1) / kSumBlockBytes != count) {
    return fail(Errc::kCorrupt, "checksum record");
  }
  for (std::uint64_t i = 0; i < count; ++i) row.blocks.push_back(in.get<std::uint32_t>());
  if (!in.ok()) return fail(Errc::kCorrupt, "checksum record");
  return row;
}

std::string sum_row_key(BlobId blob, std::uint64_t row) {
  std::string key = keys::be64(static_cast<std::uint64_t>(blob));
  keys::append_be64(key, row);
  return key;
}

void stage_sums(WriteBatch& batch, const BlobSums& sums) {
  for (std::size_t at = 0; at < sums.blocks.size(); at += kSumRowBlocks) {
    SumRow row;
    row.bytes = std::min(kSumRowBytes, sums.bytes - at * kSumBlockBytes);
    const auto count = std::min<std::size_t>(kSumRowBlocks, sums.blocks.size() - at);
    const auto first = sums.blocks.begin() + static_cast<std::ptrdiff_t>(at);
    row.blocks.assign(first, first + static_cast<std::ptrdiff_t>(count));
    batch.put(Family::kChecksum, sum_row_key(sums.blob, at / kSumRowBlocks), row.encode());
  }
}

Status stage_no_sums(KvReader& kv, WriteBatch& batch, BlobId blob) {
  const std::string lower = keys::be64(static_cast<std::uint64_t>(blob));
  const auto it = kv.scan(Family::kChecksum, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) batch.remove(Family::kChecksum, it->key());
  return it->status();
}

Result<std::optional<SumRow>> load_sum_row(KvStore& kv, BlobId blob, std::uint64_t row) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kChecksum, sum_row_key(blob, row), &value));
  if (!found) return std::optional<SumRow>{};
  STOA_TRY(decoded, SumRow::decode(value));
  return std::optional<SumRow>(std::move(decoded));
}

}  // namespace stoa::core
