#include "core/volume/class_count.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/inode/inode.h"
#include "core/inode/trash_record.h"
#include "core/kv/keys.h"
#include "core/usage/usage_record.h"

namespace stoa::core {
namespace {

class ClassCount {
 public:
  explicit ClassCount(KvStore& kv) : kv_(kv) {}

  // All that is in a bin counts there, what is in bins further inside included: so each bin adds to what is above it up
  // to the next one.
  Status add_bins() {
    const std::string prefix(keys::kRecycleRootPrefix);
    const auto it = kv_.scan(Family::kTrash, prefix, keys::behind_prefix(prefix));
    for (; it->valid(); it->next()) {
      STOA_TRY(recycle_root, RecycleRootRecord::decode(it->value()));
      STOA_TRY(record, usage_of_directory(recycle_root.bin));
      if (is_zero(record.usage)) continue;
      found_[recycle_root.bin][UsageClass::kRecycled] = record.usage;
      STOA_TRY(above, above_of(recycle_root.bin));
      STOA_CHECK_OK(climb(above, UsageClass::kRecycled, record.usage));
    }
    return it->status();
  }

  Status add_nameless() {
    const std::string prefix(keys::kOrphanPrefix);
    const auto it = kv_.scan(Family::kState, prefix, keys::behind_prefix(prefix));
    for (; it->valid(); it->next()) {
      const FileId id = keys::id_of(it->key().substr(prefix.size()));
      STOA_TRY(inode, inode_of(id));
      if (inode)
        STOA_CHECK_OK(
            climb(inode->home, UsageClass::kOrphans,
                  Usage{.bytes = inode->type == FileType::kRegular ? static_cast<std::int64_t>(inode->size) : 0,
                        .files = 1}));
    }
    return it->status();
  }

  Status write(WriteBatch& batch) {
    for (const auto& [dir, by_class] : found_) {
      STOA_TRY(record, usage_of_directory(dir));
      record.by_class = by_class;
      if (record.owners == OwnersCounted::kYes) {
        record.owners = OwnersCounted::kBeingCounted;
        batch.put(Family::kConfig, keys::counting_key(dir), {});
        STOA_CHECK_OK(forget_owners(kv_, batch, dir));
      }
      batch.put(Family::kUsage, keys::id_key(dir), record.encode());
    }
    return {};
  }

 private:
  Result<std::optional<Inode>> inode_of(FileId id) {
    std::string value;
    STOA_TRY(found, kv_.get(Family::kInode, keys::id_key(id), &value));
    if (!found) return std::nullopt;
    STOA_TRY(inode, Inode::decode(id, value));
    return std::optional(std::move(inode));
  }
  Result<UsageRecord> usage_of_directory(FileId dir) {
    std::string value;
    STOA_TRY(found, kv_.get(Family::kUsage, keys::id_key(dir), &value));
    if (!found) return UsageRecord{};
    return UsageRecord::decode(value);
  }
  // As NodeCache::load() finds it.
  Result<FileId> above_of(FileId dir) {
    STOA_TRY(inode, inode_of(dir));
    if (inode) return inode->has(kExcluded) ? kRootId : inode->home;
    STOA_TRY(ended, usage_of_directory(dir));
    return ended.surviving_parent;
  }
  // A bin counts all that is in it as recycled, whatever it was below.
  Status climb(FileId dir, UsageClass what, const Usage& usage) {
    while (dir != kNoFile) {
      STOA_TRY(inode, inode_of(dir));
      if (inode && inode->has(kIsBin)) return {};
      Usage& sum = found_[dir][what];
      sum = sum + usage;
      STOA_TRY(above, above_of(dir));
      dir = above;
    }
    return {};
  }
  KvStore& kv_;
  std::map<FileId, UsageByClass> found_;
};

}  // namespace

Status forget_owners(KvStore& kv, WriteBatch& batch, FileId dir) {
  const std::string prefix = keys::id_key(dir);
  const auto it = kv.scan(Family::kUsage, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) {
    if (!keys::owner_of(it->key())) continue;
    STOA_TRY(record, UsageRecord::decode(it->value()));
    if (record.limits.any()) {
      batch.put(Family::kUsage, it->key(), UsageRecord{.limits = record.limits}.encode());
    } else {
      batch.remove(Family::kUsage, it->key());
    }
  }
  return it->status();
}

Status count_classes(KvStore& kv, WriteBatch& batch) {
  ClassCount count(kv);
  STOA_CHECK_OK(count.add_bins());
  STOA_CHECK_OK(count.add_nameless());
  return count.write(batch);
}

}  // namespace stoa::core
