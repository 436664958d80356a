// Who may do what: decided here and nowhere else. POSIX.1-2017 file access permissions on mode bits.
#pragma once

#include "base/error.h"
#include "core/api/context.h"
#include "core/inode/inode.h"

namespace stoa::core {

enum Permission : std::uint32_t { kMayExecute = 1, kMayWrite = 2, kMayRead = 4 };

// The permissions of `wanted` (a mask) that the caller has on the object.
std::uint32_t permissions(const Credentials& cred, const Inode& inode);
// kAccess unless the caller has all of `wanted`.
Status require(const OpContext& ctx, const Inode& inode, std::uint32_t wanted);
// For reads and writes of doors without opens (RFC 1813 4.4): the owner may always, since it passed the check when it
// opened the file; whoever may execute a file may read it.
Status require_io(const OpContext& ctx, const Inode& inode, std::uint32_t wanted);
// kNotOwner unless the caller owns the object or is the superuser.
Status require_owner(const OpContext& ctx, const Inode& inode);
// kReadOnly on a read-only export; first in every mutating call.
Status require_writable(const OpContext& ctx);
// A name in a sticky directory may be removed or renamed only by the owner of the file or of the directory: kNotOwner.
Status require_sticky(const OpContext& ctx, const Inode& dir, const Inode& victim);
// The answer to access() in AccessBits.
std::uint32_t access_bits(const OpContext& ctx, const Inode& inode);

}  // namespace stoa::core
