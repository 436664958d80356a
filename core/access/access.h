// Access decisions for every protocol, made only here. The ACL where the file has one (RFC 8881 6.2.1), else the mode
// bits (POSIX.1-2017 4.5). The superuser may do everything except execute a file without any execute bit.
#pragma once

#include "base/error.h"
#include "core/api/context.h"
#include "core/inode/inode.h"

namespace stoa::core {

// All rights (AccessRight) that the caller has on the object. The owner always reads and writes attributes and ACL.
std::uint32_t rights(const Credentials& cred, const Inode& inode);
// kAccess unless the caller has all of `wanted`.
Status require(const OpContext& ctx, const Inode& inode, std::uint32_t wanted);

// For reads and writes of protocols without opens (RFC 1813 4.4). The owner may always, since it passed the check when
// it opened the file; a caller that may execute a file may read it.
Status require_read(const OpContext& ctx, const Inode& inode);
// `from`: the first byte that changes. At or behind the end, the right to append is enough; a caller with only that
// right, the owner included, may do no more.
Status require_write(const OpContext& ctx, const Inode& inode, std::uint64_t from);

// A new name in `dir`, of a directory or of anything else. As require_remove, beside the right to search `dir`.
Status require_add(const OpContext& ctx, const Inode& dir, bool directory);
// Removing a name of `victim` from `dir` (RFC 8881 6.2.1.3.2) needs DELETE on the one, or DELETE_CHILD on the other.
// In a sticky directory the latter holds only for the owner of either: kNotOwner.
Status require_remove(const OpContext& ctx, const Inode& dir, const Inode& victim);

// kNotOwner unless the caller owns the object, is the superuser, or has all of `rights` by an ACL.
Status require_owner(const OpContext& ctx, const Inode& inode, std::uint32_t rights);
// chown (POSIX with _POSIX_CHOWN_RESTRICTED). The superuser: to anyone; the owner: to groups that it is in;
// WRITE_OWNER: to the caller itself and to groups that it is in.
Status require_chown(const OpContext& ctx, const Inode& inode, std::optional<std::uint32_t> uid,
                     std::optional<std::uint32_t> gid);
// kReadOnly on a read-only export; first in every mutating call.
Status require_writable(const OpContext& ctx);

// The answer to access() in AccessBits.
std::uint32_t access_bits(const OpContext& ctx, const Inode& inode);

// The mode of a file when its owner or content has changed: set-id bits survive only changes by the superuser
// (POSIX.1-2017 write, chown).
std::uint32_t without_set_id(std::uint32_t mode);
std::uint32_t mode_after_write(const OpContext& ctx, std::uint32_t mode);

}  // namespace stoa::core
