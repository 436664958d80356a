#include "core/txn/metadata_room.h"

namespace stoa::core {
namespace {}  // namespace

Status MetadataRoom::admit(const WriteBatch& batch, std::int64_t name_bytes) {
  if (kv_.has_room()) {
    if (spent_.load(std::memory_order_relaxed) != 0) spent_.store(0, std::memory_order_relaxed);
    return {};
  }
  if (name_bytes > 0) return fail(Cause::kMetadataFull);
  STOA_TRY(more, growth(batch));
  if (more <= 0) return {};
  if (static_cast<std::uint64_t>(spent_.fetch_add(more) + more) <= kv_.unpaid_growth_max()) return {};
  spent_.fetch_sub(more);
  return fail(Cause::kMetadataFull);
}

Status MetadataRoom::admit_settings(const WriteBatch& batch) {
  if (kv_.has_room()) return {};
  STOA_TRY(more, growth(batch));
  return more <= 0 ? Status() : fail(Cause::kMetadataFull);
}

Result<std::int64_t> MetadataRoom::growth(const WriteBatch& batch) {
  std::int64_t sum = 0;
  std::string old;
  for (const WriteBatch::Op& op : batch.ops()) {
    STOA_TRY(present, kv_.get(op.family, batch.key(op), &old));
    if (present) sum -= static_cast<std::int64_t>(op.key_size + old.size());
    if (op.kind != WriteBatch::Kind::kRemove) sum += static_cast<std::int64_t>(op.key_size) + op.value_size;
  }
  return sum;
}

}  // namespace stoa::core
