#include "core/data/block_sums.h"

#include <algorithm>

#include "base/assert.h"
#include "base/crc32c.h"
#include "core/kv/codec.h"
#include "core/kv/keys.h"
#include "core/txn/record_changes.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kVersion = 1;
}  // namespace

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
  STOA_ASSERT(blocks_.size() == bytes_ / kSumBlockBytes, "each whole block has a sum");
  BlobSums sums{blob, bytes_, blocks_};
  if (bytes_ % kSumBlockBytes != 0) sums.blocks.push_back(current_);
  return sums;
}

std::string SumRow::encode() const {
  const std::size_t count = blocks();
  STOA_ASSERT(count <= kSumRowBlocks, "a row sums a limited number of blocks");
  STOA_ASSERT((known & ~(count == 0 ? 0 : block_bits(0, count - 1))) == 0, "a row has sums of its bytes");
  const bool all = count == 0 || (known & block_bits(0, count - 1)) == block_bits(0, count - 1);
  Encoder out;
  out.put_varint(bytes).put_varint(count).put(static_cast<std::uint8_t>(all));
  if (!all) out.put(known);
  for (std::size_t i = 0; i < count; ++i) {
    if (all || (known >> i & 1) != 0) out.put(sums[i]);
  }
  return encode_record(kVersion, kVersion, out.bytes());
}

Result<SumRow> SumRow::decode(std::string_view value) {
  Decoder in(decode_record(value, kVersion).body);
  SumRow row;
  row.bytes = in.get_varint();
  const std::uint64_t count = in.get_varint();
  const auto all_known = in.get<std::uint8_t>();
  if (!in.ok() || all_known > 1 || count > kSumRowBlocks || row.bytes > kSumRowBytes || row.blocks() != count) {
    return fail(Errc::kCorrupt, "checksum record");
  }
  const std::uint64_t all = count == 0 ? 0 : block_bits(0, count - 1);
  row.known = all_known == 1 ? all : in.get<std::uint64_t>();
  if ((row.known & ~all) != 0) return fail(Errc::kCorrupt, "checksum record");
  for (std::size_t i = 0; i < count; ++i) {
    if ((row.known >> i & 1) != 0) row.sums[i] = in.get<std::uint32_t>();
  }
  if (!in.ok()) return fail(Errc::kCorrupt, "checksum record");
  return row;
}

namespace {

std::uint64_t row_of(std::string_view key) {
  return keys::read_be64(key.substr(sizeof(BlobId)));
}

}  // namespace

void stage_sums(RecordChanges& changes, const BlobSums& sums) {
  for (std::size_t at = 0; at < sums.blocks.size(); at += kSumRowBlocks) {
    SumRow row;
    STOA_ASSERT(at * kSumBlockBytes < sums.bytes, "each sum covers bytes");
    row.bytes = std::min(kSumRowBytes, sums.bytes - at * kSumBlockBytes);
    const auto count = std::min<std::size_t>(kSumRowBlocks, sums.blocks.size() - at);
    row.known = block_bits(0, count - 1);
    std::copy_n(sums.blocks.begin() + static_cast<std::ptrdiff_t>(at), count, row.sums.begin());
    changes.put_sum_row(sums.blob, at / kSumRowBlocks, row.encode());
  }
}

Status stage_no_sums(KvReader& kv, RecordChanges& changes, BlobId blob) {
  const std::string lower = keys::be64(static_cast<std::uint64_t>(blob));
  const auto it = kv.scan(Family::kChecksum, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) changes.remove_sum_row(blob, row_of(it->key()));
  return it->status();
}

Status stage_cut_sums(KvReader& kv, RecordChanges& changes, BlobId blob, std::uint64_t bytes) {
  const std::string lower = keys::sum_row_key(blob, bytes / kSumRowBytes);
  const auto it = kv.scan(Family::kChecksum, lower, keys::behind_prefix(keys::be64(static_cast<std::uint64_t>(blob))));
  for (; it->valid(); it->next()) {
    if (it->key() != lower || bytes % kSumRowBytes == 0) {
      changes.remove_sum_row(blob, row_of(it->key()));
      continue;
    }
    STOA_TRY(row, SumRow::decode(it->value()));
    const std::uint64_t kept = bytes % kSumRowBytes;
    if (row.bytes <= kept) continue;
    const std::size_t last = (kept - 1) / kSumBlockBytes;
    if (row.covered(last) > kept - last * kSumBlockBytes) row.known &= ~(std::uint64_t{1} << last);
    row.bytes = kept;
    row.known &= block_bits(0, last);
    changes.put_sum_row(blob, row_of(it->key()), row.encode());
  }
  return it->status();
}

Result<std::optional<SumRow>> load_sum_row(KvReader& kv, BlobId blob, std::uint64_t row) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kChecksum, keys::sum_row_key(blob, row), &value));
  if (!found) return std::optional<SumRow>{};
  STOA_TRY(decoded, SumRow::decode(value));
  return std::optional<SumRow>(std::move(decoded));
}

}  // namespace stoa::core
