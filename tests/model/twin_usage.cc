#include "tests/model/twin.h"

#include <algorithm>
#include <set>

namespace stoa::model {

FileId Twin::above(FileId dir) const {
  if (exists(dir) && !at(dir).counted) return core::kRootId;
  const auto gone = ended.find(dir);
  if (gone != ended.end()) return gone->second;
  const FileId parent = at(dir).parent;
  return parent == dir || (!exists(parent) && !ended.contains(parent)) ? core::kNoFile : parent;
}

std::map<FileId, core::Usage> Twin::usages() const {
  std::map<FileId, core::Usage> total;
  for (const auto& [id, inode] : inodes) {
    core::Usage own;
    if (inode.is_bin) {
      continue;
    } else if (inode.is_directory()) {
      own.directories = 1;
    } else {
      own.files = 1;
      if (inode.type == FileType::kRegular) own.bytes = static_cast<std::int64_t>(inode.size());
    }
    FileId dir = inode.is_directory() ? above(id) : inode.home;
    for (; dir != core::kNoFile; dir = above(dir)) {
      core::Usage& sum = total[dir];
      sum = {sum.bytes + own.bytes, sum.files + own.files, sum.directories + own.directories};
    }
  }
  return total;
}

bool Twin::has_room_for_charge(const TwinInode& inode, FileId from, FileId to) const {
  std::set<FileId> shared;
  for (FileId dir = from; dir != core::kNoFile; dir = above(dir)) shared.insert(dir);
  auto now = usages();
  for (FileId dir = to; dir != core::kNoFile && !shared.contains(dir); dir = above(dir)) {
    const core::QuotaLimits& limits = at(dir).limits;
    const core::Usage& used = now[dir];
    const std::uint64_t bytes = inode.type == FileType::kRegular ? inode.size() : 0;
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
  const bool any = std::ranges::any_of(inodes, [](const auto& i) { return i.second.limits.bytes || i.second.limits.files; });
  if (!any) return out;
  auto now = usages();
  for (const auto& [id, inode] : inodes) {
    if (inode.limits.bytes || inode.limits.files) out[id] = now[id];
  }
  return out;
}

bool Twin::exceeds(const std::map<FileId, core::Usage>& before) const {
  auto usage = usages();
  for (const auto& [id, old] : before) {
    if (!exists(id)) continue;
    const core::Usage now = usage[id];
    const core::QuotaLimits& limits = at(id).limits;
    if (limits.bytes && now.bytes > old.bytes && static_cast<std::uint64_t>(now.bytes) > *limits.bytes) return true;
    const std::int64_t count = now.files + now.directories;
    const std::int64_t count_before = old.files + old.directories;
    if (limits.files && count > count_before && static_cast<std::uint64_t>(count) > *limits.files) return true;
  }
  return false;
}

}  // namespace stoa::model
