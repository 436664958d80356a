#include "core/txn/sealed.h"

#include "core/kv/keys.h"

namespace stoa::core {
namespace {

// The first of the directories that have a name of the file for which `find` finds something.
template <class Find>
Result<FileId> find_by_names(const VolumeView& volume, FileId id, Find find) {
  FileId looked_at = kNoFile;
  const std::string lower = keys::id_key(id);
  const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
  for (; it->valid(); it->next()) {
    const FileId parent = keys::id_of(keys::after_id(it->key()));
    if (parent == std::exchange(looked_at, parent)) continue;
    const auto dir = volume.nodes.get(parent);
    if (!dir && dir.error().code == Errc::kStale) continue;  // removed since
    STOA_CHECK_OK(dir);
    if (const FileId found = find((*dir)->chains_now().ancestry); found != kNoFile) return found;
  }
  STOA_CHECK_OK(it->status());
  return kNoFile;
}

bool has_other_names(const Inode& record) {
  return !record.is_directory() && record.links > 1;
}

Status refuse_sealed(FileId by) {
  return by == kNoFile ? Status{} : fail(Cause::kSealed, static_cast<std::uint64_t>(by));
}

// sealing_directory() with no lock held.
Result<FileId> sealing_directory_now(const VolumeView& volume, const OpContext& ctx, const NodeRef& node) {
  if (volume.nodes.seals.load(std::memory_order_relaxed) == 0) return kNoFile;
  STOA_TRY(chain, share_by(volume.tree_lock, ctx.deadline));
  STOA_TRY(lock, share_by(node->lock, ctx.deadline));
  return sealing_directory(volume, *node);
}

}  // namespace

Result<FileId> sealing_directory(const VolumeView& volume, const Node& node) {
  if (volume.nodes.seals.load(std::memory_order_relaxed) == 0) return kNoFile;
  const FileId by = sealed_directory(node.ancestry);
  if (by != kNoFile || !has_other_names(node.record)) return by;
  return find_by_names(volume, node.id, sealed_directory);
}

Status require_unsealed(const VolumeView& volume, const Node& node) {
  STOA_TRY(by, sealing_directory(volume, node));
  return refuse_sealed(by);
}

Status require_changeable(const VolumeView& volume, const Node& node) {
  STOA_CHECK_OK(require_outside_bin(volume, node));
  return require_unsealed(volume, node);
}

Status require_content_changeable(const VolumeView& volume, const OpContext& ctx, const Node& node) {
  STOA_CHECK_OK(require_content_outside_bin(volume, ctx, node));
  return require_unsealed(volume, node);
}

Result<bool> is_sealed(const VolumeView& volume, const OpContext& ctx, const NodeRef& node) {
  STOA_TRY(by, sealing_directory_now(volume, ctx, node));
  return by != kNoFile;
}

Status check_unsealed(const VolumeView& volume, const OpContext& ctx, const NodeRef& node) {
  STOA_TRY(by, sealing_directory_now(volume, ctx, node));
  return refuse_sealed(by);
}

Result<std::uint64_t> count_seals(const VolumeView& volume) {
  std::uint64_t seals = 0;
  const std::string prefix(keys::kSealedPrefix);
  const auto it = volume.kv.scan(Family::kConfig, prefix, keys::behind_prefix(prefix));
  for (; it->valid(); it->next()) ++seals;
  STOA_CHECK_OK(it->status());
  return seals;
}

Result<bool> lies_below(const VolumeView& volume, const NodeRef& node, FileId dir) {
  AncestryRef ancestry;
  bool others = false;
  {
    const std::shared_lock lock(node->lock);
    ancestry = node->ancestry;
    others = has_other_names(node->record);
  }
  if (lies_in(ancestry, dir)) return true;
  if (!others) return false;
  STOA_TRY(found, find_by_names(volume, node->id,
                                [&](const AncestryRef& from) { return lies_in(from, dir) ? dir : kNoFile; }));
  return found != kNoFile;
}

}  // namespace stoa::core
