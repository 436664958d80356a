// The stored form of an ACL: family xattr, (id, kAclXattr).
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "core/api/acl.h"

namespace stoa::core {

std::string encode_acl(const Acl& acl);
Result<Acl> decode_acl(std::string_view value);  // kCorrupt

}  // namespace stoa::core
