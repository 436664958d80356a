#include "core/links/new_inode.h"

#include "base/assert.h"
#include "core/access/acl.h"
#include "core/api/posix_acl.h"
#include "core/inode/inode_usage.h"
#include "core/txn/depth.h"

namespace stoa::core {
namespace {
constexpr std::uint32_t kSetGid = 02000;
constexpr std::uint32_t kGroupExecute = 010;
constexpr std::uint32_t kModeBits = 07777;
constexpr std::uint32_t kPermissionBits = 0777;

Timestamp chosen(const std::optional<SetTime>& wanted, Timestamp now) {
  return wanted && !wanted->server_time ? wanted->time : now;
}

std::uint32_t wanted_mode(const NewInode& wanted) {
  const SetAttributes& set = wanted.set;
  return (set.mode ? *set.mode & set.mode_mask : wanted.default_mode) & kModeBits;
}

void set_acl(Inode& inode, Acl acl) {
  inode.mode = (inode.mode & ~kPermissionBits) | mode_of(acl, inode.is_directory());
  if (!is_trivial(acl, inode.is_directory())) inode.set_acl(std::make_shared<const Acl>(std::move(acl)));
}

Status set_permissions(Inode& inode, const Inode& parent, const NewInode& wanted) {
  const SetAttributes& set = wanted.set;
  const bool directory = inode.is_directory();
  inode.mode = wanted_mode(wanted) & ~set.umask.value_or(0);
  if (inode.type == FileType::kSymlink) return set.acl == nullptr ? Status{} : fail(Errc::kWrongType);
  if (set.acl != nullptr) {
    Acl acl = *set.acl;
    acl.chmod = directory && parent.acl != nullptr ? parent.acl->chmod : ChmodPolicy::kKeep;
    STOA_CHECK_OK(check_acl(acl, directory));
    set_acl(inode, std::move(acl));
    return {};
  }
  if (parent.acl == nullptr || !wanted.inherits_acl) return {};
  return inherit_acl(inode, *parent.acl, wanted);
}

}  // namespace

Status check_dos(const SetAttributes& set) {
  const bool known = !set.dos || (*set.dos & set.dos_mask & ~kAllDosAttributes) == 0;
  return known ? Status{} : fail(Errc::kInvalid, "no such DOS attribute");
}

DosAttributes with_dos(DosAttributes now, const SetAttributes& set) {
  if (!set.dos) return now;
  return static_cast<DosAttributes>((now & ~set.dos_mask) | (*set.dos & set.dos_mask));
}

Status inherit_acl(Inode& inode, const Acl& from, const NewInode& wanted) {
  const bool directory = inode.is_directory();
  const SetAttributes& set = wanted.set;
  Acl acl = inherited(from, directory);
  const std::uint32_t mode = wanted_mode(wanted);
  const std::uint32_t masked = mode & ~set.umask.value_or(0);
  if (acl.entries.empty()) {
    inode.mode = masked;
    if (acl.chmod == ChmodPolicy::kKeep) return {};
    acl = acl_of_mode(masked, directory);
    acl.chmod = from.chmod;
    set_acl(inode, std::move(acl));
    return {};
  }
  std::uint32_t bits = masked & kPermissionBits;
  if (!set.mode) {
    bits = mode_with_inherited(acl, kPermissionBits, bits, directory);
  } else if (set.umask || default_form(from)) {
    // Inherited entries override the umask, and a default ACL of POSIX is the most that a mode may give (acl(5)).
    bits = mode_with_inherited(acl, mode, bits, directory);
  }
  if (bits != mode_of(acl, directory)) acl = with_mode(acl, bits, directory, false);
  if (!check_acl(acl, directory)) return fail(Cause::kAclModeRoom);
  // Without a mode in the request there are no bits beside the permissions, either.
  inode.mode = mode & ~kPermissionBits;
  set_acl(inode, std::move(acl));
  return {};
}

Result<Inode> make_inode(VolumeContext& volume, const OpContext& ctx, const MetaTxn& txn, const Inode& parent,
                         const NewInode& wanted) {
  const SetAttributes& set = wanted.set;
  const Credentials& cred = ctx.cred;
  if (!cred.is_superuser()) {
    if (set.uid && *set.uid != cred.uid) return fail(Errc::kNotOwner);
    if (set.gid && !cred.in_group(*set.gid) && *set.gid != parent.gid) return fail(Errc::kNotOwner);
  }
  STOA_CHECK_OK(check_dos(set));
  const bool inherit_group = (parent.mode & kSetGid) != 0;
  Inode inode;
  STOA_TRY(id, volume.next_id());
  inode.id = id;
  inode.generation = static_cast<std::uint32_t>(static_cast<std::uint64_t>(txn.now().ns) >> 10);
  inode.type = wanted.type;
  STOA_CHECK_OK(set_permissions(inode, parent, wanted));
  inode.attribute_bytes = attribute_bytes(inode.acl);
  inode.links = wanted.type == FileType::kDirectory ? 2 : 1;
  inode.uid = set.uid.value_or(cred.uid);
  inode.gid = set.gid.value_or(inherit_group ? parent.gid : cred.gid);
  inode.device = wanted.device;
  inode.atime = chosen(set.atime, txn.now());
  inode.mtime = chosen(set.mtime, txn.now());
  inode.ctime = txn.now();
  inode.btime = set.btime.value_or(txn.now());
  inode.dos = with_dos(wanted.type == FileType::kRegular ? kDosArchive : DosAttributes{0}, set);
  inode.parent = parent.id;
  if (wanted.type == FileType::kDirectory) {
    // POSIX leaves it open; Linux and BSD let set-group-id run down the tree.
    if (inherit_group) inode.mode |= kSetGid;
  } else if ((inode.mode & (kSetGid | kGroupExecute)) == (kSetGid | kGroupExecute) && !cred.is_superuser() &&
             !cred.in_group(inode.gid)) {
    inode.mode &= ~kSetGid;
  }
  return inode;
}

Result<NodeRef> add_file(MetaTxn& txn, const NodeRef& dir, Inode& dir_next, std::string_view raw, Inode inode,
                         const AccountRef& charged) {
  Chains chains = dir->chains();
  const AccountRef& above = charged != nullptr ? charged : dir->account;
  const UsageClass of = charged != nullptr ? UsageClass::kMultipart : UsageClass::kLive;
  const bool directory = inode.is_directory();
  if (directory && charged == nullptr) {
    STOA_CHECK_OK(require_depth(dir->ancestry, 1));
    note_levels(above, 1);
  }
  STOA_ASSERT(above != nullptr, "a new file counts in a directory");
  STOA_ASSERT(inode.parent == dir->id, "a new file lies where its name is");
  STOA_ASSERT(inode.links == (directory ? 2u : 1u), "a new file has one name");
  STOA_CHECK_OK(txn.reserve({above, {inode.uid, inode.gid}, inode.id, of}, usage_of(inode)));
  STOA_CHECK_OK(txn.insert_entry(dir, dir_next, raw, inode.id, inode.type));
  txn.put_inode(dir, dir_next);
  txn.note({.kind = ChangeKind::kCreate, .id = inode.id, .parent = dir->id, .name = raw});
  if (directory) {
    const auto kind = charged != nullptr ? Ancestry::Kind::kUpload : Ancestry::Kind::kPlain;
    chains = {std::make_shared<Account>(), std::make_shared<Ancestry>(inode.id, std::move(chains.ancestry), kind)};
    chains.account->dir = inode.id;
    chains.account->parent = above;
    chains.account->child_class = of;
    if (charged == nullptr) STOA_CHECK_OK(txn.give_child_limits(chains.account, above));
  }
  return txn.new_inode(std::move(inode), std::move(chains));
}

}  // namespace stoa::core
