// mkdir, symlink and mknod: names that must not be taken.
#include "core/access/access.h"
#include "core/data/content.h"
#include "core/links/new_inode.h"
#include "core/namespace/replay.h"
#include "core/recycle/bin.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

Result<CreateReply> make_locked(VolumeContext& volume, const OpContext& ctx, std::string_view name,
                                const NewInode& wanted, std::string_view target, const NodeRef& dir,
                                CommitTicket& ticket) {
  STOA_TRY(locks, NodeLocks::take(ctx, {dir}));
  STOA_CHECK_OK(require_directory(*dir));
  STOA_CHECK_OK(require(ctx, dir->record, kRightSearch));
  STOA_TRY(entry, find_posix(volume, *dir, name));
  if (entry.record.exists() || names_bin(*dir, name)) return fail(Errc::kExists);
  STOA_CHECK_OK(require_add(ctx, dir->record, wanted.type == FileType::kDirectory));
  STOA_CHECK_OK(require_changeable(volume, *dir));

  MetaTxn txn(volume, ctx);
  STOA_TRY(inode, make_inode(volume, ctx, txn, dir->record, wanted));
  if (wanted.type == FileType::kSymlink) {
    inode.size = target.size();
    inode.flags |= kContentInline;
    stage_inline(txn, inode.id, target);
  }
  Inode dir_next = dir->record;
  CreateReply reply{true, inode.attributes(), dir->record.before(), {}};
  STOA_CHECK_OK(add_file(txn, dir, dir_next, entry.raw, std::move(inode)));
  reply.parent = dir_next.attributes();
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

Result<CreateReply> make(VolumeContext& volume, const OpContext& ctx, FileId parent, std::string_view name,
                         const NewInode& wanted, std::string_view target = {}) {
  if (auto replay = replay_create(volume, ctx, ChangeKind::kCreate, parent)) return *std::move(replay);
  STOA_TRY(dir, reach(volume, ctx, parent));
  return run_mutation(
      volume, ctx, [&](CommitTicket& ticket) { return make_locked(volume, ctx, name, wanted, target, dir, ticket); });
}

}  // namespace

Result<CreateReply> mkdir(VolumeContext& volume, const OpContext& ctx, const MkdirRequest& req) {
  return make(volume, ctx, req.parent, req.name, {.type = FileType::kDirectory, .set = req.set, .default_mode = 0755});
}

Result<CreateReply> symlink(VolumeContext& volume, const OpContext& ctx, const SymlinkRequest& req) {
  if (req.target.empty() || req.target.find('\0') != std::string_view::npos) return fail(Errc::kInvalid, "target");
  if (req.target.size() > kSymlinkBytesMax) return fail(Errc::kNameTooLong);
  return make(volume, ctx, req.parent, req.name, {.type = FileType::kSymlink, .set = req.set, .default_mode = 0777},
              req.target);
}

Result<CreateReply> mknod(VolumeContext& volume, const OpContext& ctx, const MknodRequest& req) {
  switch (req.type) {
    case FileType::kBlockDevice:
    case FileType::kCharDevice:
      if (!ctx.cred.is_superuser()) return fail(Errc::kNotOwner);
      break;
    case FileType::kSocket:
    case FileType::kFifo:
      break;
    default:
      return fail(Errc::kWrongType);
  }
  return make(volume, ctx, req.parent, req.name, {.type = req.type, .set = req.set, .device = req.device});
}

}  // namespace stoa::core
