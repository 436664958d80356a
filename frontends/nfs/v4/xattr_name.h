// Names of extended attributes (RFC 8276): clients leave out the "user." under which the core keeps them.
#pragma once

#include <string>

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

inline constexpr std::string_view kXattrNamespace = "user.";

struct XattrName {
  Nfs4Status status = Nfs4Status::kOk;
  std::string name{};  // in the core
};
// kInval (empty, or with NUL), kNameTooLong.
XattrName to_core_xattr(std::string_view key);

}  // namespace stoa::nfs4
