#include "core/namespace/find_object.h"

#include "core/access/access.h"

namespace stoa::core {

Result<FoundObject> find_object(const VolumeView& volume, const OpContext& ctx, FileId root, const KeyParts& parts) {
  for (;;) {
    FoundObject found;
    STOA_TRY(dir, walk_directories(volume, ctx, root, parts.directories));
    found.dir = dir;
    {
      STOA_TRY(lock, share_by(dir->lock, ctx.deadline));
      // Removed between the scan and here: the scan will find that.
      if (dir->deleted) continue;
      STOA_CHECK_OK(require_directory(*dir));
      STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
      STOA_TRY(entry, find_form(volume, *dir, parts.last, false));
      found.entry = entry;
    }
    if (!found.entry.exists()) return found;
    auto node = node_of(volume, ctx, dir, parts.last, found.entry);
    if (!node && node.error().code == Errc::kStale) continue;
    if (!node) return fail(node.error());
    found.node = std::move(*node);
    return found;
  }
}

Status check_expectation(const std::optional<ObjectExpectation>& expect, const Inode* present) {
  if (!expect) return {};
  if (expect->must_not_exist && present != nullptr) return fail(Errc::kPreconditionFailed);
  if (expect->version &&
      (present == nullptr || ObjectVersion{present->id, present->data_version} != *expect->version)) {
    return fail(Errc::kPreconditionFailed);
  }
  return {};
}

}  // namespace stoa::core
