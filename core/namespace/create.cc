#include "core/access/access.h"
#include "core/links/new_inode.h"
#include "core/links/orphan.h"
#include "core/namespace/create_file.h"
#include "core/namespace/replay.h"
#include "core/recycle/bin.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

// Without attributes (exclusive create) only the owner gets in until it sets them (RFC 8881 6.4.3).
constexpr std::uint32_t kExclusiveMode = 0600;
constexpr std::uint32_t kDefaultMode = 0644;

// Data before the metadata that names it, as for an object.
Result<CreateReply> create_with_content(VolumeContext& volume, const OpContext& ctx, const CreateRequest& req,
                                        const NodeRef& dir) {
  if (req.mode == CreateMode::kUnchecked || req.set.size)
    return fail(Errc::kInvalid, "content of a file that is there");
  if (req.bytes.size() > kIoBytesMax) return fail(Errc::kTooLarge);
  if (ctx.read_only) return fail(Errc::kReadOnly);
  {
    // What is refused anyway takes no space meanwhile.
    STOA_TRY(tree_lock, share_by(volume.tree_lock, ctx.deadline));
    STOA_TRY(lock, share_by(dir->lock, ctx.deadline));
    STOA_CHECK_OK(require_directory(*dir));
    STOA_CHECK_OK(require_add(ctx, dir->record, false));
    STOA_CHECK_OK(require_changeable(volume, *dir));
  }
  STOA_TRY(content, content_of_bytes(volume, req.bytes));
  const auto made = run_mutation(volume, ctx, [&](CommitTicket& ticket) {
    return create_file(volume, ctx, req, dir, ticket, {.content = &content});
  });
  // Nothing happens to what a record names.
  discard_content(volume, content);
  STOA_CHECK_OK(made);
  return made->reply;
}

}  // namespace

Result<CreatedFile> create_file(VolumeContext& volume, const OpContext& ctx, const CreateRequest& req,
                                const NodeRef& dir, CommitTicket& ticket, const MadeWithFile& with) {
  STOA_TRY(locks, NodeLocks::take(ctx, {dir}));
  STOA_CHECK_OK(require_directory(*dir));
  STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
  STOA_TRY(entry, find_posix(volume, *dir, req.name));
  if (entry.record.exists()) {
    if (req.mode == CreateMode::kGuarded) return fail(Errc::kExists);
    if (entry.directory()) return fail(req.mode == CreateMode::kUnchecked ? Errc::kIsDirectory : Errc::kExists);
    const BeforeAttributes before = dir->record.before();
    const Attributes parent = dir->record.attributes();
    locks.release();
    STOA_TRY(node, volume.nodes.get(entry.record.id));
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    STOA_CHECK_OK(require_live(*node));
    if (node->record.type != FileType::kRegular) return fail(Errc::kExists);
    if (req.mode == CreateMode::kExclusive && (req.verifier == 0 || node->record.create_verifier != req.verifier)) {
      return fail(Errc::kExists);
    }
    return CreatedFile{{false, node->record.attributes(), before, parent},
                       req.mode == CreateMode::kUnchecked && req.set.size.has_value()};
  }
  if (names_bin(*dir, req.name)) return fail(Errc::kExists);
  STOA_CHECK_OK(require_add(ctx, dir->record, false));
  STOA_CHECK_OK(require_changeable(volume, *dir));
  if (req.set.size && *req.set.size > kFileBytesMax) return fail(Errc::kFileTooBig);

  MetaTxn txn(volume, ctx);
  const bool exclusive = req.mode == CreateMode::kExclusive;
  STOA_TRY(inode, make_inode(volume, ctx, txn, dir->record,
                             {.type = FileType::kRegular,
                              .set = req.set,
                              .default_mode = exclusive ? kExclusiveMode : kDefaultMode,
                              .inherits_acl = !exclusive || req.set.mode.has_value()}));
  inode.size = req.set.size.value_or(0);
  if (with.content != nullptr) STOA_CHECK_OK(take_content(volume, txn, inode.id, inode, *with.content));
  if (exclusive) inode.create_verifier = req.verifier;
  Inode dir_next = dir->record;
  CreatedFile made{{true, inode.attributes(), dir->record.before(), {}}};
  if (with.open != nullptr) STOA_CHECK_OK(with.open->begin_unmade(inode.id));
  STOA_CHECK_OK(add_file(txn, dir, dir_next, entry.raw, std::move(inode)));
  made.reply.parent = dir_next.attributes();
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return made;
}

Result<CreatedFile> create_nameless(VolumeContext& volume, const OpContext& ctx, const CreateRequest& req,
                                    const NodeRef& dir, CommitTicket& ticket, UnfinishedOpen& open) {
  STOA_TRY(locks, NodeLocks::take(ctx, {dir}));
  STOA_CHECK_OK(require_directory(*dir));
  STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
  STOA_CHECK_OK(require_add(ctx, dir->record, false));
  STOA_CHECK_OK(require_changeable(volume, *dir));
  if (req.set.size && *req.set.size > kFileBytesMax) return fail(Errc::kFileTooBig);
  MetaTxn txn(volume, ctx);
  STOA_TRY(inode, make_inode(volume, ctx, txn, dir->record, {.set = req.set, .default_mode = kDefaultMode}));
  inode.size = req.set.size.value_or(0);
  inode.links = 0;
  CreatedFile made{{true, inode.attributes(), dir->record.before(), dir->record.attributes()}};
  STOA_CHECK_OK(open.begin_unmade(inode.id));
  (void)volume.state.keeps(inode.id);  // its last close deletes it
  STOA_CHECK_OK(add_nameless(txn, dir, std::move(inode)));
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return made;
}

Result<CreateReply> create(VolumeContext& volume, const OpContext& ctx, const CreateRequest& req) {
  if (auto replay = replay_create(volume, ctx, ChangeKind::kCreate, req.parent)) return *std::move(replay);
  STOA_TRY(dir, reach(volume, ctx, req.parent));
  if (!req.bytes.empty()) return create_with_content(volume, ctx, req, dir);
  STOA_TRY(made,
           run_mutation(volume, ctx, [&](CommitTicket& ticket) { return create_file(volume, ctx, req, dir, ticket); }));
  if (made.truncate) {
    // As Linux does: of an existing file only the size is set.
    STOA_TRY(cut, setattr(volume, ctx, {.id = made.reply.attr.id, .set = {.size = req.set.size}}));
    made.reply.attr = cut.attr;
  }
  return made.reply;
}

}  // namespace stoa::core
