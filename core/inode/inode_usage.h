// What a file or directory counts for, wherever usage and quotas are concerned. Here and nowhere else.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/api/acl.h"
#include "core/inode/inode.h"
#include "core/usage/usage_record.h"

namespace stoa::core {

// One file or directory; the bytes of a file's content and of a symbolic link's target, and of both what is kept beside
// them (Inode::attribute_bytes).
Usage usage_of(const Inode& inode);

// What S3 notes of every object (ETag, type, checksum) is part of its inode, so to say: an object counts as the file
// does that NFS makes. Beyond so many bytes there is what the user has given.
inline constexpr std::size_t kObjectMetaFree = 512;

// What an extended attribute adds to Inode::attribute_bytes: its name and its value.
std::uint64_t attribute_bytes(std::string_view name, std::string_view value);
// What an ACL adds: as it is stored. Null: nothing.
std::uint64_t attribute_bytes(const AclRef& acl);

}  // namespace stoa::core
