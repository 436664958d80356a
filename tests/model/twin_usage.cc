#include "tests/model/twin.h"

namespace stoa::model {

core::Usage Twin::usage(FileId dir) const {
  core::Usage total;
  for (const auto& [stored, id] : at(dir).names) {
    const TwinInode& inode = at(id);
    if (inode.is_directory()) {
      const core::Usage below = usage(id);
      total.bytes += below.bytes;
      total.files += below.files;
      total.directories += below.directories + 1;
      continue;
    }
    // A file with several names is counted once, at the first one in its home.
    bool first_at_home = inode.home == dir;
    for (const auto& [parent, name] : inode.links) {
      if (parent == dir && name < stored) first_at_home = false;
    }
    if (!first_at_home) continue;
    total.files += 1;
    if (inode.type == FileType::kRegular) total.bytes += static_cast<std::int64_t>(inode.size());
  }
  return total;
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
  for (const auto& [id, inode] : inodes) {
    if (inode.limits.bytes || inode.limits.files) out[id] = usage(id);
  }
  return out;
}

bool Twin::exceeds(const std::map<FileId, core::Usage>& before) const {
  for (const auto& [id, old] : before) {
    if (!exists(id)) continue;
    const core::Usage now = usage(id);
    const core::QuotaLimits& limits = at(id).limits;
    if (limits.bytes && now.bytes > old.bytes && static_cast<std::uint64_t>(now.bytes) > *limits.bytes) return true;
    const std::int64_t count = now.files + now.directories;
    const std::int64_t count_before = old.files + old.directories;
    if (limits.files && count > count_before && static_cast<std::uint64_t>(count) > *limits.files) return true;
  }
  return false;
}

}  // namespace stoa::model
