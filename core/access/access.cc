#include "core/access/access.h"

#include <algorithm>

#include "core/access/acl.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kSetUid = 04000;
constexpr std::uint32_t kSetGid = 02000;
constexpr std::uint32_t kSticky = 01000;
constexpr std::uint32_t kGroupExecute = 010;
constexpr std::uint32_t kAnyExecute = 0111;

constexpr std::uint32_t kModeGivesEverybody = kRightReadAttributes | kRightSynchronize;
constexpr std::uint32_t kModeGivesOwner = kModeGivesEverybody | kRightWriteAttributes | kRightReadAcl | kRightWriteAcl;

bool is_owner(const Credentials& cred, const Inode& inode) {
  return cred.uid == inode.uid;
}

bool somebody_may_execute(const Inode& inode) {
  if ((inode.mode & kAnyExecute) != 0) return true;
  return inode.acl != nullptr && std::ranges::any_of(inode.acl->entries, [](const AclEntry& entry) {
           return !entry.deny && (entry.flags & kAceInheritOnly) == 0 && (entry.rights & kRightExecute) != 0;
         });
}

AclVerdict verdict_of_mode(const Credentials& cred, const Inode& inode) {
  const std::uint32_t bits = is_owner(cred, inode)      ? inode.mode >> 6
                             : cred.in_group(inode.gid) ? inode.mode >> 3
                                                        : inode.mode;
  const bool directory = inode.is_directory();
  const std::uint32_t allowed = rights_of_bits(bits & 7, directory);
  return {allowed | kRightReadAcl, rights_of_bits(7, directory) & ~allowed};
}

AclVerdict verdict(const Credentials& cred, const Inode& inode) {
  if (!inode.has(kHasAcl)) return verdict_of_mode(cred, inode);
  // Never without its ACL, and if so, access is denied.
  if (inode.acl == nullptr) return {0, kAllRights};
  return evaluate(*inode.acl, cred, inode.uid, inode.gid);
}

}  // namespace

std::uint32_t rights(const Credentials& cred, const Inode& inode) {
  if (cred.is_superuser()) {
    const bool execute = inode.is_directory() || somebody_may_execute(inode);
    return execute ? kAllRights : kAllRights & ~kRightExecute;
  }
  return verdict(cred, inode).allowed | (is_owner(cred, inode) ? kModeGivesOwner : kModeGivesEverybody);
}

Status require(const OpContext& ctx, const Inode& inode, std::uint32_t wanted) {
  if ((rights(ctx.cred, inode) & wanted) != wanted) return fail(Errc::kAccess);
  return {};
}

Status require_read(const OpContext& ctx, const Inode& inode) {
  if (is_owner(ctx.cred, inode)) return {};
  if ((rights(ctx.cred, inode) & (kRightReadData | kRightExecute)) != 0) return {};
  return fail(Errc::kAccess);
}

Status require_write(const OpContext& ctx, const Inode& inode, std::uint64_t from) {
  if (is_owner(ctx.cred, inode) && inode.acl == nullptr) return {};
  const std::uint32_t have = rights(ctx.cred, inode);
  if ((have & kRightWriteData) != 0) return {};
  if ((have & kRightAppendData) != 0) return from >= inode.size ? Status{} : fail(Errc::kAccess);
  if (is_owner(ctx.cred, inode)) return {};
  return fail(Errc::kAccess);
}

Status require_add(const OpContext& ctx, const Inode& dir, bool directory) {
  return require(ctx, dir, directory ? kRightAddSubdirectory : kRightAddFile);
}

Status require_remove(const OpContext& ctx, const Inode& dir, const Inode& victim) {
  if (ctx.cred.is_superuser()) return {};
  // A mode knows nothing of DELETE.
  const AclVerdict of_victim = victim.has(kHasAcl) ? verdict(ctx.cred, victim) : AclVerdict{};
  if ((of_victim.allowed & kRightDelete) != 0) return {};
  const AclVerdict of_dir = verdict(ctx.cred, dir);
  if ((of_dir.allowed & kRightDeleteChild) == 0) {
    const bool said = (of_dir.denied & kRightDeleteChild) != 0 || (of_victim.denied & kRightDelete) != 0;
    if (said || (of_dir.allowed & kRightAddFile) == 0) return fail(Errc::kAccess);
  }
  if ((dir.mode & kSticky) == 0 || is_owner(ctx.cred, dir) || is_owner(ctx.cred, victim)) return {};
  return fail(Errc::kNotOwner);
}

Status require_owner(const OpContext& ctx, const Inode& inode, std::uint32_t wanted) {
  if ((rights(ctx.cred, inode) & wanted) == wanted) return {};
  return fail(Errc::kNotOwner);
}

Status require_chown(const OpContext& ctx, const Inode& inode, std::optional<std::uint32_t> uid,
                     std::optional<std::uint32_t> gid) {
  const Credentials& cred = ctx.cred;
  if (cred.is_superuser()) return {};
  const bool may_take = (rights(cred, inode) & kRightWriteOwner) != 0;
  if (!may_take && !is_owner(cred, inode)) return fail(Errc::kNotOwner);
  if (uid && *uid != inode.uid && !(may_take && *uid == cred.uid)) return fail(Errc::kNotOwner);
  if (gid && *gid != inode.gid && !cred.in_group(*gid)) return fail(Errc::kNotOwner);
  return {};
}

Status require_writable(const OpContext& ctx) {
  if (ctx.read_only) return fail(Errc::kReadOnly);
  return {};
}

std::uint32_t access_bits(const OpContext& ctx, const Inode& inode) {
  const std::uint32_t have = rights(ctx.cred, inode);
  const auto all = [have](std::uint32_t wanted) { return (have & wanted) == wanted; };
  const bool directory = inode.is_directory();
  std::uint32_t bits = 0;
  if (all(kRightReadData)) bits |= kAccessRead;
  if (all(kRightExecute)) bits |= directory ? kAccessLookup : kAccessExecute;
  if (all(kRightReadXattrs)) bits |= kAccessReadXattrs | kAccessListXattrs;
  if (ctx.read_only) return bits;
  if (all(kRightWriteXattrs)) bits |= kAccessWriteXattrs;
  if (!directory) {
    if (all(kRightWriteData)) bits |= kAccessModify;
    if (all(kRightAppendData)) bits |= kAccessExtend;
    return bits;
  }
  // One answer for files and subdirectories: the operation will tell.
  if (all(kRightAddFile) || all(kRightAddSubdirectory)) bits |= kAccessExtend;
  if (all(kRightDeleteChild)) bits |= kAccessDelete;
  if (all(kRightAddFile | kRightDeleteChild)) bits |= kAccessModify;
  return bits;
}

std::uint32_t without_set_id(std::uint32_t mode) {
  mode &= ~kSetUid;
  if ((mode & kGroupExecute) != 0) mode &= ~kSetGid;
  return mode;
}

std::uint32_t mode_after_write(const OpContext& ctx, std::uint32_t mode) {
  return ctx.cred.is_superuser() ? mode : without_set_id(mode);
}

}  // namespace stoa::core
