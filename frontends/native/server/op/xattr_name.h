// Names of extended attributes that clients may use (xattr(7)).
#pragma once

#include <string_view>

#include "core/api/context.h"

namespace stoa::native {

// user.* is for those with rights to the file; the system's own names are for the superuser.
inline bool may_use_xattr(const core::OpContext& ctx, std::string_view name) {
  if (name.starts_with("user.")) return true;
  return (name.starts_with("trusted.") || name.starts_with("security.")) && ctx.cred.is_superuser();
}

}  // namespace stoa::native
