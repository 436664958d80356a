// The two extended attributes that are views of a file's ACL (acl(5)): setting one changes rights and mode.
#pragma once

#include <string_view>

namespace stoa::native {

inline constexpr std::string_view kPosixAclAccess = "system.posix_acl_access";
inline constexpr std::string_view kPosixAclDefault = "system.posix_acl_default";

constexpr bool is_posix_acl(std::string_view name) {
  return name == kPosixAclAccess || name == kPosixAclDefault;
}

}  // namespace stoa::native
