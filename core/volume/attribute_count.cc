#include "core/volume/attribute_count.h"

#include <map>
#include <optional>
#include <string>

#include "core/inode/inode.h"
#include "core/inode/inode_usage.h"
#include "core/kv/keys.h"
#include "core/usage/counters.h"
#include "core/usage/usage_record.h"
#include "core/volume/class_count.h"

namespace stoa::core {
namespace {

constexpr std::size_t kPieceBytes = 1u << 20;

class AttributeCount {
 public:
  explicit AttributeCount(KvStore& kv) : kv_(kv) {}

  Status count_files() {
    const auto attributes = kv_.scan(Family::kXattr, {}, {});
    const auto it = kv_.scan(Family::kInode, {}, {});
    for (; it->valid(); it->next()) {
      const FileId id = keys::id_of(it->key());
      STOA_TRY(inode, Inode::decode(id, it->value()));
      inode.attribute_bytes = 0;
      // Both are in the order of ids.
      for (; attributes->valid() && keys::id_of(attributes->key()) <= id; attributes->next()) {
        if (keys::id_of(attributes->key()) == id)
          inode.attribute_bytes += attribute_bytes(keys::after_id(attributes->key()), attributes->value());
      }
      STOA_CHECK_OK(attributes->status());
      if (inode.attribute_bytes != 0) STOA_CHECK_OK(store(inode));
      const std::uint64_t target = inode.type == FileType::kSymlink ? inode.size : 0;
      const auto more = static_cast<std::int64_t>(inode.attribute_bytes + target);
      if (more != 0 && id != kRootId && id != kMultipartId) STOA_CHECK_OK(charge(inode, {.bytes = more}));
    }
    STOA_CHECK_OK(it->status());
    return flush();
  }

  Status write(WriteBatch& batch) {
    for (const auto& [dir, more] : found_) {
      STOA_TRY(record, usage_of_directory(dir));
      record.usage = record.usage + more.all;
      record.by_class = record.by_class + more.by_class;
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
  struct More {
    Usage all;
    UsageByClass by_class;
  };

  Status store(const Inode& inode) {
    piece_.put(Family::kInode, keys::id_key(inode.id), inode.encode());
    return piece_.bytes() < kPieceBytes ? Status() : flush();
  }
  Status flush() {
    if (piece_.empty()) return {};
    const WriteBatch* const batches[] = {&piece_};
    STOA_CHECK_OK(kv_.apply(batches));
    piece_.clear();
    return {};
  }
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

  // All the way up, as NodeCache::load() finds it and Ledger::add() counts it.
  Status charge(const Inode& inode, const Usage& more) {
    FileId at = inode.charged_to != kNoFile ? inode.charged_to : inode.home;
    UsageClass of = inode.charged_to != kNoFile                 ? UsageClass::kMultipart
                    : !inode.is_directory() && inode.links == 0 ? UsageClass::kOrphans
                                                                : UsageClass::kLive;
    while (at != kNoFile) {
      STOA_TRY(dir, inode_of(at));
      FileId above = kNoFile;
      if (dir) {
        if (dir->charged_to != kNoFile) {
          of = UsageClass::kMultipart;
        } else if (dir->has(kIsBin)) {
          of = UsageClass::kRecycled;
        }
        above = dir->charged_to != kNoFile ? dir->charged_to : dir->has(kExcluded) ? kRootId : dir->home;
      } else {
        STOA_TRY(ended, usage_of_directory(at));
        if (ended.upload) of = UsageClass::kMultipart;
        above = ended.surviving_parent;
      }
      More& sum = found_[at];
      sum.all = sum.all + more;
      sum.by_class = sum.by_class + change_of(more, of, {}).by_class;
      at = above;
    }
    return {};
  }

  KvStore& kv_;
  WriteBatch piece_;
  std::map<FileId, More> found_;
};

}  // namespace

Status count_attributes(KvStore& kv, WriteBatch& batch) {
  AttributeCount count(kv);
  STOA_CHECK_OK(count.count_files());
  return count.write(batch);
}

}  // namespace stoa::core
