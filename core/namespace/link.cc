#include "core/access/access.h"
#include "core/links/orphan.h"
#include "core/namespace/replay.h"
#include "core/recycle/bin.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

Result<CreateReply> link_locked(VolumeContext& volume, const OpContext& ctx, const LinkRequest& req, const NodeRef& dir,
                                const NodeRef& node, CommitTicket& ticket) {
  STOA_TRY(locks, NodeLocks::take(ctx, {dir, node}));
  STOA_CHECK_OK(require_live(*node));
  if (node->record.is_directory()) return fail(Errc::kIsDirectory);
  const bool nameless = node->record.links == 0;
  // What has lost its last name never gets one again, as in Linux.
  if (nameless && !node->record.has(kLinkable)) return fail(Errc::kNotFound);
  STOA_CHECK_OK(require_directory(*dir));
  STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
  STOA_TRY(entry, find_posix(volume, *dir, req.name));
  if (entry.record.exists() || names_bin(*dir, req.name)) return fail(Errc::kExists);
  STOA_CHECK_OK(require_add(ctx, dir->record, false));
  for (const NodeRef& party : {dir, node}) STOA_CHECK_OK(require_changeable(volume, *party));
  if (node->record.links >= kLinksMax) return fail(Errc::kTooManyLinks);

  MetaTxn txn(volume, ctx);
  Inode next = node->record;
  ++next.links;
  next.touch(txn.now());
  if (nameless) STOA_CHECK_OK(stage_first_name(txn, dir, node, next));
  Inode dir_next = dir->record;
  CreateReply reply{true, next.attributes(), dir->record.before(), {}};
  STOA_CHECK_OK(txn.insert_entry(dir, dir_next, entry.raw, node->id, next.type));
  reply.parent = dir_next.attributes();
  txn.put_inode(node, std::move(next));
  if (nameless) txn.set_chains(node, dir->chains());
  txn.put_inode(dir, std::move(dir_next));
  txn.note({.kind = ChangeKind::kLink, .id = node->id, .parent = dir->id, .name = entry.raw});
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

}  // namespace

Result<CreateReply> link(VolumeContext& volume, const OpContext& ctx, const LinkRequest& req) {
  if (auto replay = replay_create(volume, ctx, ChangeKind::kLink, req.parent)) return *std::move(replay);
  STOA_TRY(dir, reach(volume, ctx, req.parent));
  STOA_TRY(node, reach(volume, ctx, req.id));
  return run_mutation(volume, ctx,
                      [&](CommitTicket& ticket) { return link_locked(volume, ctx, req, dir, node, ticket); });
}

}  // namespace stoa::core
