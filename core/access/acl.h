// What an ACL says: pure functions on lists of entries (RFC 8881 chapter 6). Who asks here: access.h, and whatever
// makes or changes an ACL.
#pragma once

#include "base/error.h"
#include "core/api/acl.h"
#include "core/api/credentials.h"

namespace stoa::core {

// Rights that no entry speaks of are in neither.
struct AclVerdict {
  std::uint32_t allowed = 0;
  std::uint32_t denied = 0;
};
// For a caller and a file with this owner and group. Nobody is special here: neither the owner nor the superuser.
AclVerdict evaluate(const Acl& acl, const Credentials& cred, std::uint32_t uid, std::uint32_t gid);

// kInvalid: what no ACL may have; inheritance of what is no directory. kTooLarge: more than kAclEntriesMax,
// kAclBytesMax.
Status check_acl(const Acl& acl, bool directory);

// The rights that three mode bits (rwx) stand for.
std::uint32_t rights_of_bits(std::uint32_t bits, bool directory);
// The nine permission bits of the mode: RFC 8881 6.3.2.
std::uint32_t mode_of(const Acl& acl);
// An ACL that decides as the nine bits do, class by class as POSIX has it.
Acl acl_of_mode(std::uint32_t mode, bool directory);
// Whether it says what its own mode says, and nothing else: then it need not be kept.
bool is_trivial(const Acl& acl, bool directory);

// The ACL after chmod (RFC 8881 6.4.1.1): mode_of() it is `mode`. `mask`: ChmodPolicy::kMask; else kKeep.
Acl with_mode(const Acl& acl, std::uint32_t mode, bool directory, bool mask);

// What a new file or directory inherits (RFC 8881 6.4.3.1); no entries: nothing.
Acl inherited(const Acl& parent, bool directory);
// The mode for what has inherited: each class gets what the inherited entries give it and `most` has, and, where none
// of them speaks of the class, what `otherwise` gives.
std::uint32_t mode_with_inherited(const Acl& acl, std::uint32_t most, std::uint32_t otherwise);

}  // namespace stoa::core
