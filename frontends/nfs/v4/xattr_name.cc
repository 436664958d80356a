#include "frontends/nfs/v4/xattr_name.h"

namespace stoa::nfs4 {

XattrName to_core_xattr(std::string_view key) {
  if (key.empty() || key.find('\0') != key.npos) return {.status = Nfs4Status::kInval};
  if (key.size() > core::kXattrNameBytesMax - kXattrNamespace.size()) return {.status = Nfs4Status::kNameTooLong};
  std::string name(kXattrNamespace);
  name.append(key);
  return {.name = std::move(name)};
}

}  // namespace stoa::nfs4
