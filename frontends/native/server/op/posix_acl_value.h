// POSIX ACLs as values of extended attributes, as Linux has them (linux/posix_acl_xattr.h): a version (2), then tag,
// bits and id of each entry, little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/posix_acl.h"
#include "frontends/native/protocol/posix_acl_name.h"

namespace stoa::native {

enum class PosixAclKind : std::uint8_t { kAccess, kDefault };

// Nothing: the name is that of another attribute.
std::optional<PosixAclKind> posix_acl_kind(std::string_view name);

// Nothing: a value without entries, which takes the ACL away. kNotSupported: another version. kInvalid: cut off,
// unknown tags or bits, entries that are missing, twice or in another order than acl(5) has (ids within a tag may be in
// any).
Result<std::optional<core::PosixAcl>> parse_posix_acl(std::string_view value);
std::string print_posix_acl(const core::PosixAcl& acl);

}  // namespace stoa::native
