#include "core/txn/operations.h"

#include "core/api/recycle.h"
#include "core/inode/posix_name.h"
#include "core/kv/keys.h"

namespace stoa::core {

Result<PathOfReply> path_of(const VolumeView& volume, const OpContext&, const PathOfRequest& req) {
  std::string path;
  FileId id = req.id;
  // Deeper than any real tree: a cycle would be damage, and must not hang the administrator.
  for (int depth = 0; depth < 100'000; ++depth) {
    if (id == kRootId || id == kMultipartId) {
      const std::string_view top = id == kRootId ? "" : "(multipart uploads)";
      if (path.empty()) path = "/";
      return PathOfReply{std::string(top) + path};
    }
    const std::string lower = keys::id_key(id);
    const auto it = volume.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
    STOA_CHECK_OK(it->status());
    if (!it->valid()) {
      STOA_TRY(inode, load_inode(volume.kv, id));
      if (!inode.has(kIsBin)) return fail(Errc::kStale);
      path = "/" + std::string(kRecycleName) + path;
      id = inode.parent;
      continue;
    }
    const FileId parent = keys::id_of(keys::after_id(it->key()));
    std::string_view raw = keys::after_id(keys::after_id(it->key()));
    const bool directory = raw.ends_with('/');
    if (directory) raw.remove_suffix(1);
    bool hidden_by_directory = false;
    if (!directory) {
      std::string value;
      STOA_TRY(found, volume.kv.get(Family::kEntry, keys::id_name(parent, raw), &value));
      if (found) {
        STOA_TRY(record, EntryRecord::decode(value));
        hidden_by_directory = record.hidden_by_directory();
      }
    }
    path = "/" + posix_name_of(raw, hidden_by_directory) + path;
    id = parent;
  }
  return fail(Errc::kCorrupt, "the directories form a cycle");
}

}  // namespace stoa::core
