#include "core/access/access.h"
#include "core/access/acl.h"
#include "core/data/truncate.h"
#include "core/links/drop_link.h"
#include "core/links/new_inode.h"
#include "core/namespace/replay.h"
#include "core/recycle/bin.h"
#include "core/txn/meta_txn.h"
#include "core/txn/operations.h"
#include "core/txn/reach.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kSetGid = 02000;
constexpr std::uint32_t kSetId = 06000;
constexpr std::uint32_t kPermissionBits = 0777;
constexpr std::uint32_t kModeBits = 07777;

Status check_permissions(const OpContext& ctx, const Inode& inode, const SetAttributes& set) {
  if (set.mode || set.acl != nullptr || set.chmod_policy) STOA_CHECK_OK(require_owner(ctx, inode, kRightWriteAcl));
  if (set.uid || set.gid) STOA_CHECK_OK(require_chown(ctx, inode, set.uid, set.gid));
  if (set.size) {
    if (inode.is_directory()) return fail(Errc::kIsDirectory);
    if (inode.type != FileType::kRegular) return fail(Errc::kInvalid);
    if (*set.size > kFileBytesMax) return fail(Errc::kFileTooBig);
    STOA_CHECK_OK(require_write(ctx, inode, *set.size));
  }
  for (const auto& time : {set.atime, set.mtime}) {
    if (!time) continue;
    const Status owner = require_owner(ctx, inode, kRightWriteAttributes);
    if (owner) continue;
    if (!time->server_time) return owner;
    STOA_CHECK_OK(require(ctx, inode, kRightWriteData));
  }
  if (set.btime || set.dos) STOA_CHECK_OK(require_owner(ctx, inode, kRightWriteAttributes));
  STOA_CHECK_OK(check_dos(set));
  if (set.chmod_policy && !inode.is_directory()) return fail(Errc::kNotDirectory);
  if (set.acl != nullptr && inode.type == FileType::kSymlink) return fail(Errc::kWrongType);
  return {};
}

// An ACL equivalent to a mode is stored as a mode.
void store_acl(Inode& next, Acl acl) {
  const bool plain = is_trivial(acl, next.is_directory());
  next.set_acl(plain ? nullptr : std::make_shared<const Acl>(std::move(acl)));
}

Status apply_chmod(Inode& next, std::uint32_t mode, ChmodPolicy policy) {
  const bool directory = next.is_directory();
  switch (policy) {
    case ChmodPolicy::kRefuse:
      return fail(Cause::kAclChmodRefused);
    case ChmodPolicy::kReplace: {
      Acl acl = acl_of_mode(mode, directory);
      acl.chmod = next.acl->chmod;
      store_acl(next, std::move(acl));
      return {};
    }
    case ChmodPolicy::kKeep:
    case ChmodPolicy::kMask:
      break;
  }
  Acl acl = with_mode(*next.acl, mode, directory, policy == ChmodPolicy::kMask);
  if (!check_acl(acl, directory)) return fail(Cause::kAclModeRoom);
  store_acl(next, std::move(acl));
  return {};
}

// An exclusive create of NFSv3 and NFSv4.0 brings no attributes (RFC 1813 3.3.8): those of the new file are in the
// SETATTR that is the next to come.
bool awaits_mode(const Inode& inode) {
  return inode.create_verifier != 0 && inode.change == 1;
}

// Mode, then ACL (RFC 8881 6.4.1.3); each makes the other follow. `ruling`: see ruling_acl().
Status apply_permissions(Inode& next, const SetAttributes& set, const AclRef& ruling, bool created) {
  const bool directory = next.is_directory();
  if (set.mode && (set.mode_mask & kPermissionBits) != 0 && set.acl == nullptr) {
    if (next.acl != nullptr) {
      STOA_CHECK_OK(
          apply_chmod(next, next.mode & kPermissionBits, ruling != nullptr ? ruling->chmod : ChmodPolicy::kKeep));
    } else if (created && ruling != nullptr) {
      STOA_CHECK_OK(inherit_acl(next, *ruling, {.set = {.mode = next.mode}}));
    }
  }
  if (set.acl == nullptr && !set.chmod_policy) return {};
  Acl acl = set.acl != nullptr ? *set.acl : next.acl != nullptr ? *next.acl : acl_of_mode(next.mode, directory);
  acl.chmod = set.chmod_policy.value_or(next.acl != nullptr ? next.acl->chmod : ChmodPolicy::kKeep);
  STOA_CHECK_OK(check_acl(acl, directory));
  next.mode = (next.mode & ~kPermissionBits) | mode_of(acl, directory);
  store_acl(next, std::move(acl));
  return {};
}

Status apply(const OpContext& ctx, Inode& next, const SetAttributes& set, const AclRef& ruling, bool created,
             Timestamp now) {
  const std::uint32_t old_owner = next.uid, old_mode = next.mode;
  const bool regular = next.type == FileType::kRegular;
  if (set.uid || set.gid) {
    next.uid = set.uid.value_or(next.uid);
    next.gid = set.gid.value_or(next.gid);
    if (!next.is_directory() && !set.mode) next.mode = without_set_id(next.mode);
  }
  if (set.mode) {
    next.mode = ((next.mode & ~set.mode_mask) | (*set.mode & set.mode_mask)) & kModeBits;
    if ((set.uid || set.gid) && !next.is_directory()) next.mode = without_set_id(next.mode);
    if (regular && !ctx.cred.is_superuser() && !ctx.cred.in_group(next.gid)) next.mode &= ~kSetGid;
    // An ACL lets others change the mode, but not make a program that runs as the owner.
    if (!ctx.cred.is_superuser() && ctx.cred.uid != old_owner) next.mode &= ~kSetId | old_mode;
  }
  if (set.size && !set.mode) next.mode = mode_after_write(ctx, next.mode);
  STOA_CHECK_OK(apply_permissions(next, set, ruling, created));
  next.touch(now);
  if (set.size) next.mtime = next.ctime;
  if (set.atime) next.atime = set.atime->server_time ? now : set.atime->time;
  if (set.mtime) next.mtime = set.mtime->server_time ? next.ctime : set.mtime->time;
  next.btime = set.btime.value_or(next.btime);
  if (set.size && regular) next.dos |= kDosArchive;
  next.dos = with_dos(next.dos, set);
  return {};
}

// The ACL that governs chmod and inheritance: a directory's own, or that of the directory of a file's first name.
// Null: there is none, or it has no such rule. Read before the file is locked: nodes are locked in order of id only.
Result<AclRef> ruling_acl(VolumeContext& volume, const OpContext& ctx, const NodeRef& node) {
  FileId parent = kNoFile;
  {
    STOA_TRY(lock, share_by(node->lock, ctx.deadline));
    const Inode& record = node->record;
    if (record.acl == nullptr && !awaits_mode(record)) return AclRef();
    if (record.is_directory()) return record.acl;
    parent = record.parent;
  }
  if (parent == kNoFile) return AclRef();
  const auto dir = volume.nodes.get(parent);
  if (!dir && dir.error().code == Errc::kStale) return AclRef();  // gone, and the file is still charged there
  if (!dir) return fail(dir.error());
  STOA_TRY(lock, share_by((*dir)->lock, ctx.deadline));
  return (*dir)->record.acl;
}

// Users and groups have limits, too: the new owner is charged.
Status stage_owner(MetaTxn& txn, const NodeRef& node, const Inode& next) {
  const Owner owner{next.uid, next.gid};
  ChargeTarget to = node->charge_target();
  if (owner == to.owner) return {};
  to.owner = owner;
  if (!next.is_directory()) return txn.move_charge(node, to, usage_of(next));
  return txn.move_owner(node, owner, usage_of(next));
}

Result<SetattrReply> setattr_locked(VolumeContext& volume, const OpContext& ctx, const SetattrRequest& req,
                                    const AclRef& ruling, const NodeRef& node, CommitTicket& ticket) {
  STOA_TRY(locks, NodeLocks::take(ctx, {node}));
  STOA_CHECK_OK(require_live(*node));
  STOA_CHECK_OK(check_permissions(ctx, node->record, req.set));
  STOA_CHECK_OK(req.set.size ? require_content_changeable(volume, ctx, *node) : require_changeable(volume, *node));
  if (req.guard_ctime && *req.guard_ctime != node->record.ctime) return fail(Errc::kGuardMismatch);
  MetaTxn txn(volume, ctx);
  SetattrReply reply{node->record.before(), {}};
  Inode next = node->record;
  next.keep();
  if (req.set.size) {
    // Bytes that go, or become zeros.
    const auto [low, high] = std::minmax(*req.set.size, next.size);
    STOA_CHECK_OK(volume.state.before_io(ctx, req.id, low, high - low, true));
  }
  if (req.set.size) STOA_CHECK_OK(stage_truncate(volume, txn, node, next, *req.set.size));
  STOA_CHECK_OK(apply(ctx, next, req.set, ruling, awaits_mode(node->record), txn.now()));
  if (next.acl != node->record.acl) {
    STOA_CHECK_OK(txn.change_attribute_bytes(node, next, attribute_bytes(node->record.acl), attribute_bytes(next.acl)));
  }
  STOA_CHECK_OK(stage_owner(txn, node, next));
  reply.attr = next.attributes();
  txn.put_inode(node, std::move(next));
  STOA_CHECK_OK(txn.note_change(node, {.kind = req.set.size ? ChangeKind::kContent : ChangeKind::kAttributes}));
  STOA_TRY(committed, txn.commit());
  ticket = committed;
  return reply;
}

}  // namespace

Result<SetattrReply> setattr(VolumeContext& volume, const OpContext& ctx, const SetattrRequest& req) {
  if (auto replay = replay_setattr(volume, ctx, req.id)) return *std::move(replay);
  STOA_TRY(node, reach(volume, ctx, req.id));
  AclRef ruling;
  if (req.set.mode) {
    STOA_TRY(found, ruling_acl(volume, ctx, node));
    ruling = std::move(found);
  }
  const auto body = [&](CommitTicket& ticket) { return setattr_locked(volume, ctx, req, ruling, node, ticket); };
  if (!req.set.size) return run_mutation(volume, ctx, body);
  STOA_TRY(gate, lock_by(node->data_gate, ctx.deadline));
  STOA_TRY(trimmed, prepare_truncate(volume, ctx, node, *req.set.size));
  auto reply = run_mutation(volume, ctx, body);
  if (reply) finish_truncate(volume, ctx, node, trimmed);
  return reply;
}

}  // namespace stoa::core
