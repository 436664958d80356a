// Evaluation of ACLs: pure functions on lists of entries (RFC 8881 chapter 6). Callers: access.h, and code that makes
// or changes an ACL.
#pragma once

#include "base/error.h"
#include "core/api/acl.h"
#include "core/api/credentials.h"
#include "core/api/mode_rights.h"

namespace stoa::core {

// Rights that no entry speaks of are in neither.
struct AclVerdict {
  std::uint32_t allowed = 0;
  std::uint32_t denied = 0;
};
// For a caller and a file with this owner and group. Without special cases for the owner or the superuser.
AclVerdict evaluate(const Acl& acl, const Credentials& cred, std::uint32_t uid, std::uint32_t gid);

// kInvalid: malformed, or inheritance flags on a file that is no directory. kTooLarge: more than kAclEntriesMax,
// kAclBytesMax.
Status check_acl(const Acl& acl, bool directory);

// The nine permission bits of the mode: RFC 8881 6.3.2. In the form of a POSIX ACL with a mask (core/api/posix_acl.h),
// that is in place of the group's.
std::uint32_t mode_of(const Acl& acl, bool directory);
// An ACL that decides as the nine bits do, class by class as POSIX has it.
Acl acl_of_mode(std::uint32_t mode, bool directory);
// Whether it says no more than its own mode: then it need not be stored.
bool is_trivial(const Acl& acl, bool directory);

// The ACL after chmod (RFC 8881 6.4.1.1): mode_of() it is `mode`. `mask`: ChmodPolicy::kMask; else kKeep. In the form
// of a POSIX ACL, its mask is set in any case.
Acl with_mode(const Acl& acl, std::uint32_t mode, bool directory, bool mask);

// The ACL that a new file or directory inherits (RFC 8881 6.4.3.1); no entries: none.
Acl inherited(const Acl& parent, bool directory);
// The mode of a file with an inherited ACL. Each class gets the rights that its inherited entries grant and `most`
// has; a class without such an entry gets those of `otherwise`.
std::uint32_t mode_with_inherited(const Acl& acl, std::uint32_t most, std::uint32_t otherwise, bool directory);

}  // namespace stoa::core
