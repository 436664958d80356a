#include "core/kv/keys.h"
#include "core/txn/operations.h"

namespace stoa::core {

Status remove_tree(VolumeContext& volume, const OpContext& ctx, const RemoveRequest& req) {
  // One small transaction a name, each only applied; the caller's promise is kept by the last one, which follows them
  // all.
  const OpContext applied = ctx.applied();
  struct Level {
    FileId dir;
    std::string name;      // POSIX name of `dir` in the level above
    bool refused = false;  // to go, although nothing was seen in it
  };
  STOA_TRY(top, lookup(volume, ctx, {.parent = req.parent, .name = req.name}));
  if (top.attr.type != FileType::kDirectory) return fail(Errc::kNotDirectory);
  std::vector<Level> levels{{top.attr.id, std::string(req.name), false}};
  while (!levels.empty()) {
    if (ctx.expired()) return fail(Errc::kTimeout);
    const Level level = levels.back();
    STOA_TRY(listing, readdir(volume, applied, {.dir = level.dir, .cookie = 2}));
    bool deeper = false;
    for (const DirectoryEntry& entry : listing.entries) {
      if (entry.type == FileType::kDirectory) {
        levels.push_back({entry.id, entry.name, false});
        deeper = true;
        break;
      }
      const auto gone = unlink(volume, applied, {level.dir, entry.name});
      if (!gone && gone.error().code != Errc::kNotFound) return fail(gone.error());
    }
    if (deeper || !listing.end) continue;
    levels.pop_back();
    const FileId parent = levels.empty() ? req.parent : levels.back().dir;
    const auto gone = rmdir(volume, levels.empty() ? ctx : applied, {parent, level.name});
    if (!gone && gone.error().code == Errc::kNotEmpty) {
      // A name was created meanwhile; or the directory has an invisible entry: a recycle bin that is not empty.
      if (level.refused && listing.entries.empty()) return fail(gone.error());
      levels.push_back({level.dir, level.name, listing.entries.empty()});
      continue;
    }
    if (!gone && gone.error().code != Errc::kNotFound) return fail(gone.error());
  }
  return {};
}

}  // namespace stoa::core
