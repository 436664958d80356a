#include "tests/model/twin.h"

#include <algorithm>

namespace stoa::model {

FileId Twin::above(FileId dir) const {
  if (exists(dir) && !at(dir).counted) return core::kRootId;
  if (exists(dir) && at(dir).charged_to != core::kNoFile) return at(dir).charged_to;
  const auto gone = ended.find(dir);
  if (gone != ended.end()) return gone->second;
  const FileId parent = at(dir).parent;
  return parent == dir || (!exists(parent) && !ended.contains(parent)) ? core::kNoFile : parent;
}

bool Twin::is_of_upload(FileId dir) const {
  for (; dir != core::kNoFile; dir = above(dir)) {
    if (is_upload(dir)) return true;
  }
  return false;
}

namespace {

core::Usage sum(const core::Usage& a, const core::Usage& b) {
  return {a.bytes + b.bytes, a.files + b.files, a.directories + b.directories};
}
core::Usage less(const core::Usage& a, const core::Usage& b) {
  return {a.bytes - b.bytes, a.files - b.files, a.directories - b.directories};
}

}  // namespace

core::Usage own_usage(const TwinInode& inode) {
  std::uint64_t bytes = inode.type == FileType::kRegular || inode.type == FileType::kSymlink ? inode.size() : 0;
  for (const auto& [name, value] : inode.xattrs) bytes += name.size() + value.size();
  // Metadata of a key protocol, behind its version; this much of it is free.
  constexpr std::size_t kFree = 512;
  const std::size_t meta =
      inode.meta && !inode.meta->bytes.empty() ? sizeof(std::uint64_t) + inode.meta->bytes.size() : 0;
  bytes += meta > kFree ? meta - kFree : 0;
  return inode.is_directory() ? core::Usage{.bytes = static_cast<std::int64_t>(bytes), .directories = 1}
                              : core::Usage{.bytes = static_cast<std::int64_t>(bytes), .files = 1};
}

core::Usage TwinUsage::counted(const core::ExcludedClasses& excluded) const {
  core::Usage rest = all;
  for (const core::UsageClass of : core::kClassesButLive) {
    if (excluded.has(of)) rest = less(rest, by_class[of]);
  }
  return rest;
}

core::UsageClass Twin::class_in(FileId dir, core::UsageClass below) const {
  if (is_upload(dir)) return core::UsageClass::kMultipart;
  const bool bin = exists(dir) && at(dir).is_bin &&
                   !(exists(at(dir).parent) && at(at(dir).parent).is_bin);  // else it is a user's bin
  return bin ? core::UsageClass::kRecycled : below;
}

std::map<FileId, TwinUsage> Twin::usages() const {
  std::map<FileId, TwinUsage> total;
  for (const auto& [id, inode] : inodes) {
    if (inode.is_bin || inode.id == core::kRootId) continue;
    const core::Usage own = own_usage(inode);
    FileId dir = inode.is_directory() ? above(id) : inode.charged_in;
    core::UsageClass of = inode.orphan()        ? core::UsageClass::kOrphans
                          : is_upload(inode.id) ? core::UsageClass::kMultipart
                                                : core::UsageClass::kLive;
    for (; dir != core::kNoFile; dir = above(dir)) {
      of = class_in(dir, of);
      TwinUsage& known = total[dir];
      known.all = sum(known.all, own);
      if (of != core::UsageClass::kLive) known.by_class[of] = sum(known.by_class[of], own);
    }
  }
  return total;
}

bool Twin::has_room_for_charge(const TwinInode& inode, FileId from, FileId to, core::UsageClass becomes) const {
  std::map<FileId, core::UsageClass> before;
  core::UsageClass of = core::UsageClass::kLive;
  for (FileId dir = from; dir != core::kNoFile; dir = above(dir)) before[dir] = of = class_in(dir, of);
  auto now = usages();
  of = becomes;
  for (FileId dir = to; dir != core::kNoFile; dir = above(dir)) {
    of = class_in(dir, of);
    if (!exists(dir)) continue;  // it has no limits any more
    const core::QuotaLimits& limits = at(dir).limits;
    const auto was = before.find(dir);
    if (limits.excluded.has(of) || (was != before.end() && !limits.excluded.has(was->second)))
      continue;  // counts no more than before
    const core::Usage used = now[dir].counted(limits.excluded);
    const auto bytes = static_cast<std::uint64_t>(own_usage(inode).bytes);
    if (bytes > 0 && limits.bytes && static_cast<std::uint64_t>(used.bytes) + bytes > *limits.bytes) return false;
    if (limits.files && static_cast<std::uint64_t>(used.files + used.directories) + 1 > *limits.files) return false;
  }
  return true;
}

bool Twin::is_below(FileId id, FileId ancestor) const {
  for (;;) {
    if (id == ancestor) return true;
    const FileId parent = at(id).parent;
    if (parent == id || !exists(parent)) return false;
    id = parent;
  }
}

std::map<FileId, core::Usage> Twin::limited_usage() const {
  std::map<FileId, core::Usage> out;
  const bool any =
      std::ranges::any_of(inodes, [](const auto& i) { return i.second.limits.bytes || i.second.limits.files; });
  if (!any) return out;
  auto now = usages();
  for (const auto& [id, inode] : inodes) {
    if (inode.limits.bytes || inode.limits.files) out[id] = now[id].counted(inode.limits.excluded);
  }
  return out;
}

bool Twin::exceeds(const std::map<FileId, core::Usage>& before) const {
  auto usage = usages();
  for (const auto& [id, old] : before) {
    if (!exists(id)) continue;
    const core::QuotaLimits& limits = at(id).limits;
    const core::Usage now = usage[id].counted(limits.excluded);
    if (limits.bytes && now.bytes > old.bytes && static_cast<std::uint64_t>(now.bytes) > *limits.bytes) return true;
    const std::int64_t count = now.files + now.directories;
    const std::int64_t count_before = old.files + old.directories;
    if (limits.files && count > count_before && static_cast<std::uint64_t>(count) > *limits.files) return true;
  }
  return false;
}

}  // namespace stoa::model
