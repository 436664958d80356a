#include "core/namespace/new_inode.h"

namespace stoa::core {
namespace {
constexpr std::uint32_t kSetGid = 02000;
constexpr std::uint32_t kGroupExecute = 010;
constexpr std::uint32_t kModeBits = 07777;

Timestamp chosen(const std::optional<SetTime>& wanted, Timestamp now) {
  return wanted && !wanted->server_time ? wanted->time : now;
}
}  // namespace

Result<Inode> make_inode(Tree& tree, const OpContext& ctx, const MetaTxn& txn, const Inode& parent,
                         const NewInode& wanted) {
  const SetAttributes& set = wanted.set;
  const Credentials& cred = ctx.cred;
  if (!cred.is_superuser()) {
    if (set.uid && *set.uid != cred.uid) return fail(Errc::kNotOwner);
    if (set.gid && !cred.in_group(*set.gid) && *set.gid != parent.gid) return fail(Errc::kNotOwner);
  }
  const bool inherit_group = (parent.mode & kSetGid) != 0;
  Inode inode;
  STOA_TRY(id, tree.next_id());
  inode.id = id;
  inode.generation = static_cast<std::uint32_t>(static_cast<std::uint64_t>(txn.now().ns) >> 10);
  inode.type = wanted.type;
  inode.mode = set.mode.value_or(wanted.default_mode) & kModeBits;
  inode.links = wanted.type == FileType::kDirectory ? 2 : 1;
  inode.uid = set.uid.value_or(cred.uid);
  inode.gid = set.gid.value_or(inherit_group ? parent.gid : cred.gid);
  inode.device = wanted.device;
  inode.atime = chosen(set.atime, txn.now());
  inode.mtime = chosen(set.mtime, txn.now());
  inode.ctime = inode.btime = txn.now();
  inode.home = parent.id;
  if (wanted.type == FileType::kDirectory) {
    // POSIX leaves it open; Linux and BSD let set-group-id run down the tree.
    if (inherit_group) inode.mode |= kSetGid;
  } else if ((inode.mode & (kSetGid | kGroupExecute)) == (kSetGid | kGroupExecute) && !cred.is_superuser() &&
             !cred.in_group(inode.gid)) {
    inode.mode &= ~kSetGid;
  }
  return inode;
}

Result<NodeRef> add_file(MetaTxn& txn, const NodeRef& dir, Inode& dir_next, std::string_view raw, Inode inode) {
  const bool directory = inode.is_directory();
  Usage delta;
  if (directory) {
    delta.directories = 1;
  } else {
    delta.files = 1;
    if (inode.type == FileType::kRegular) delta.bytes = static_cast<std::int64_t>(inode.size);
  }
  STOA_CHECK_OK(txn.reserve(dir->account, delta));
  STOA_CHECK_OK(txn.insert_entry(dir, dir_next, raw, inode.id, inode.type));
  txn.put_inode(dir, dir_next);
  txn.note({.kind = ChangeKind::kCreate, .id = inode.id, .parent = dir->id, .name = raw});
  AccountRef account = dir->account;
  if (directory) {
    account = std::make_shared<Account>();
    account->dir = inode.id;
    account->parent = dir->account;
  }
  return txn.new_inode(std::move(inode), std::move(account));
}

}  // namespace stoa::core
