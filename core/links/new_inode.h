// The initial attributes of a file: owner, group, mode, ACL and times from the caller, the request and the directory.
#pragma once

#include "core/txn/meta_txn.h"

namespace stoa::core {

// Checks the DOS attributes in `set`. kInvalid: unknown attributes.
Status check_dos(const SetAttributes& set);
DosAttributes with_dos(DosAttributes now, const SetAttributes& set);

struct NewInode {
  FileType type = FileType::kRegular;
  SetAttributes set{};
  std::uint32_t default_mode = 0644;
  DeviceNumber device{};
  bool inherits_acl = true;
};

// kNotOwner: an owner or group that the caller may not give away (as chown would refuse). kInvalid, kTooLarge: the ACL.
// Mode and ACL: RFC 8881 6.4.3, RFC 8275.
Result<Inode> make_inode(VolumeContext& volume, const OpContext& ctx, const MetaTxn& txn, const Inode& parent,
                         const NewInode& wanted);

// Entries of the directory's ACL, and the mode of the request applied to them. kNoSpace: the ACL has no room for the
// mode.
Status inherit_acl(Inode& inode, const Acl& from, const NewInode& wanted);

// Adds a new file under a name in `dir` (locked): charge, inode, entry, directory record, journal. `dir_next` starts as
// the directory's record and is staged by this call; the caller commits. `charged`: of the directory of a multipart
// upload, the account of `inode.charged_to`, which the caller has locked.
Result<NodeRef> add_file(MetaTxn& txn, const NodeRef& dir, Inode& dir_next, std::string_view raw, Inode inode,
                         const AccountRef& charged = {});

}  // namespace stoa::core
