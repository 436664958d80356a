#include "core/access/access.h"
#include "core/recycle/bin.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"

namespace stoa::core {

Result<LookupReply> lookup(const VolumeView& volume, const OpContext& ctx, const LookupRequest& req) {
  STOA_TRY(parent, reach(volume, ctx, req.parent));
  FileId found = kNoFile;
  FoundEntry entry;
  Attributes parent_attr;
  {
    STOA_TRY(lock, share_by(parent->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*parent));
    STOA_CHECK_OK(require(ctx, parent->record, kRightSearch));
    parent_attr = parent->record.attributes();
    if (req.name == "." || (req.name == ".." && (req.parent == req.root || req.parent == kRootId))) {
      return LookupReply{parent_attr, parent_attr};
    }
    if (req.name == "..") {
      found = parent->record.parent;
    } else {
      STOA_TRY(known,
               req.ignore_case ? find_ignoring_case(volume, *parent, req.name) : find_posix(volume, *parent, req.name));
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
  // The directory covers the file if this is its only name; to ask of another one costs it its cached writes, no more.
  const bool is_directory = !entry.record.exists() || entry.directory();
  STOA_CHECK_OK(volume.state.before_look(
      ctx, {.file = found, .directory = is_directory ? kNoFile : req.parent, .is_directory = is_directory}));
  const bool up = req.name == "..";
  auto child = up                      ? reach(volume, ctx, found)
               : entry.record.exists() ? node_of(volume, ctx, parent, entry.raw, entry.record)
                                       : volume.nodes.get(found);
  if (!child) return fail(child.error().code == Errc::kStale && !up ? Errc::kNotFound : child.error().code);
  STOA_TRY(lock, share_by((*child)->lock, ctx.deadline));
  if ((*child)->deleted) return fail(Errc::kNotFound);
  LookupReply reply{(*child)->record.attributes(), parent_attr};
  if (req.ignore_case && entry.raw != req.name) {
    std::string name = posix_name_of(entry.raw, entry.record.hidden_by_directory());
    if (name != req.name) reply.name = std::move(name);
  }
  return reply;
}

}  // namespace stoa::core
