#include "core/inode/inode_usage.h"

#include <algorithm>

#include "core/inode/acl_record.h"
#include "core/kv/keys.h"

namespace stoa::core {

Usage usage_of(const Inode& inode) {
  const bool has_bytes = inode.type == FileType::kRegular || inode.type == FileType::kSymlink;
  const auto bytes = static_cast<std::int64_t>(inode.attribute_bytes + (has_bytes ? inode.size : 0));
  return inode.is_directory() ? Usage{.bytes = bytes, .directories = 1} : Usage{.bytes = bytes, .files = 1};
}

std::uint64_t attribute_bytes(std::string_view name, std::string_view value) {
  if (name == keys::kMetaXattr) return value.size() - std::min(value.size(), kObjectMetaFree);
  return name.size() + value.size();
}

std::uint64_t attribute_bytes(const AclRef& acl) {
  return acl == nullptr ? 0 : attribute_bytes(keys::kAclXattr, encode_acl(*acl));
}

}  // namespace stoa::core
