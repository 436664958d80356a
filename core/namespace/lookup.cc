#include "core/access/access.h"
#include "core/namespace/operations.h"
#include "core/recycle/bin.h"

namespace stoa::core {

Result<LookupReply> lookup(VolumeContext& volume, const OpContext& ctx, const LookupRequest& req) {
  STOA_TRY(parent, reach(volume, ctx, req.parent));
  FileId found = kNoFile;
  FoundEntry entry;
  Attributes parent_attr;
  {
    const std::shared_lock lock(parent->lock);
    STOA_CHECK_OK(require_directory(*parent));
    STOA_CHECK_OK(require(ctx, parent->record, kRightSearch));
    parent_attr = parent->record.attributes();
    if (req.name == "." || (req.name == ".." && (req.parent == req.root || req.parent == kRootId))) {
      return LookupReply{parent_attr, parent_attr};
    }
    if (req.name == "..") {
      found = parent->record.home;
    } else {
      STOA_TRY(known, find_posix(volume, *parent, req.name));
      entry = std::move(known);
      found = entry.record.id;
      if (!entry.record.exists() && names_bin(*parent, req.name)) {
        STOA_TRY(bin, bin_of(volume, req.parent));
        found = bin;
      }
      if (found == kNoFile) return fail(Errc::kNotFound);
    }
  }
  // Without the parent's lock: nodes are locked in order of id only. The file may go meanwhile; then the name did, too.
  STOA_CHECK_OK(volume.state.before_look(ctx, found));
  const bool up = req.name == "..";
  auto child = up                      ? reach(volume, ctx, found)
               : entry.record.exists() ? node_of(volume, parent, entry.raw, entry.record)
                                       : volume.nodes.get(found);
  if (!child) return fail(child.error().code == Errc::kStale && !up ? Errc::kNotFound : child.error().code);
  const std::shared_lock lock((*child)->lock);
  if ((*child)->deleted) return fail(Errc::kNotFound);
  return LookupReply{(*child)->record.attributes(), parent_attr};
}

}  // namespace stoa::core
