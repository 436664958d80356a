#include "core/access/access.h"
#include "core/namespace/find_object.h"
#include "core/namespace/object_meta.h"
#include "core/recycle/bin.h"
#include "core/txn/covered.h"
#include "core/txn/operations.h"
#include "core/txn/sealed.h"

namespace stoa::core {

Result<LookupKeyReply> lookup_key(const VolumeView& volume, const OpContext& ctx, const LookupKeyRequest& req) {
  STOA_TRY(parts, split_key(req.key));
  STOA_TRY(found, find_object(volume, ctx, req.root, parts));
  if (found.node == nullptr) return fail(Errc::kNotFound);
  STOA_TRY(lock, share_by(found.node->lock, ctx.deadline));
  const Inode& record = found.node->record;
  if (found.node->deleted || record.type != FileType::kRegular) return fail(Errc::kNotFound);
  STOA_CHECK_OK(require_read(ctx, record));
  STOA_CHECK_OK(before_look(volume, ctx, record));
  // Under the lock, so that attributes and meta are of one moment.
  STOA_TRY(meta, load_meta(volume, record));
  return LookupKeyReply{record.attributes(), std::move(meta)};
}

Status set_meta(VolumeContext& volume, const OpContext& ctx, const SetMetaRequest& req) {
  if (req.meta.size() > kXattrValueBytesMax) return fail(Errc::kTooLarge);
  STOA_TRY(node, volume.nodes.get(req.id));
  const auto done = run_mutation(volume, ctx, [&](CommitTicket& ticket) -> Result<bool> {
    STOA_TRY(locks, NodeLocks::take(ctx, {node}));
    STOA_CHECK_OK(require_live(*node));
    STOA_CHECK_OK(require_write(ctx, node->record, 0));
    STOA_CHECK_OK(require_changeable(volume, *node));
    if (req.described != ObjectVersion{node->id, node->record.data_version}) return fail(Errc::kStale);
    MetaTxn txn(volume, ctx);
    Inode next = node->record;
    next.touch(txn.now());
    next.mtime = next.ctime;  // an object that was copied onto itself is a new one to S3: Last-Modified moves
    STOA_CHECK_OK(stage_meta(volume, txn, node, next, req.meta));
    txn.put_inode(node, std::move(next));
    STOA_CHECK_OK(txn.note_change(node, {.kind = ChangeKind::kXattr}));
    STOA_TRY(committed, txn.commit());
    ticket = committed;
    return true;
  });
  if (!done) return fail(done.error());
  return {};
}

}  // namespace stoa::core
