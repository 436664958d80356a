// ACLs as text, one entry a line, in the notation of nfs4_getfacl: TYPE:FLAGS:WHO:RIGHTS.
//
//   TYPE    A allow, D deny
//   FLAGS   f file inherit, d directory inherit, n no propagate, i inherit only, I inherited; g: WHO is a group
//   WHO     OWNER@, GROUP@, EVERYONE@; a number; a name that `find` knows; name@domain or S-1-..., kept
//           unresolved
//   RIGHTS  r read data (list), w write data (add file), a append data (add subdirectory), D delete child, d delete,
//           x execute (search), t T read, write attributes, n N read, write xattrs, c C read, write ACL,
//           o write owner, y synchronize, e E write retention, write retention hold
//
// Beside the entries, at most once each: "flags:" and, with commas, auto_inherit, protected, defaulted; "chmod:" and
// keep, mask, replace or refuse. Empty lines and lines that begin with '#' mean nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/acl.h"

namespace stoa::core {

struct AclText {
  Acl acl{};
  std::optional<ChmodPolicy> chmod{};  // the line "chmod:", if there was one; acl.chmod is the same
};
// The id of a user or group of that name.
using FindIdentity = std::function<std::optional<std::uint32_t>(std::string_view name, bool group)>;
// Errors: kInvalid, with the line and the fault in the detail ("line 3: ..."). The output of print_acl() parses to
// the same ACL.
Result<AclText> parse_acl(std::string_view text, const FindIdentity& find);
std::string print_acl(const Acl& acl);

std::string_view to_string(ChmodPolicy policy);
std::optional<ChmodPolicy> parse_chmod_policy(std::string_view text);

// Whether the text is valid as an unresolved identity: name@domain or S-1-..., UTF-8, at most kAclIdentityBytesMax
// bytes, no ':' and no control characters.
bool may_be_identity(std::string_view text);

}  // namespace stoa::core
