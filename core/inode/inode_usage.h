// The usage of a single file or directory, for accounting and quotas. Defined only here.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/api/acl.h"
#include "core/inode/inode.h"
#include "core/usage/usage_record.h"

namespace stoa::core {

// One file or directory, with its content bytes or symbolic link target, and the data stored beside them
// (Inode::attribute_bytes).
Usage usage_of(const Inode& inode);

// The metadata that S3 adds to every object (ETag, type, checksum) is not charged, so an object counts the same as a
// file created over NFS. Bytes beyond this are the user's own metadata.
inline constexpr std::size_t kObjectMetaFree = 512;

// The size that an extended attribute adds to Inode::attribute_bytes: its name and its value.
std::uint64_t attribute_bytes(std::string_view name, std::string_view value);
// The size that an ACL adds: its stored size. Null: nothing.
std::uint64_t attribute_bytes(const AclRef& acl);

}  // namespace stoa::core
