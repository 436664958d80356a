// The stored record of a file: family inode.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "core/api/attributes.h"
#include "core/inode/layout.h"

namespace stoa::core {

enum InodeFlags : std::uint32_t {
  kContentInline = 1,  // the content (or symlink target) is in family inline
  kImplicit = 2,     // a directory that exists only because keys below it do; goes with the last of them, unless keep()
  kChecksummed = 8,  // its blobs may have checksums (core/data/block_sums.h)
  kHasXattrs = 4,    // family xattr has records of this file
  kHasAcl = 16,      // family xattr has its ACL (core/inode/acl_record.h)
  kHasBin = 32,      // a directory with a recycle bin, found in family trash (core/recycle/bin.h)
  kIsBin = 64,       // a recycle bin: it has no name; `parent` is the directory that has it
  kExcluded = 128,   // a bin that is charged to the volume only
  kLinkable = 256,   // made without a name, and has none yet: a link may give it one
  kSealed = 512,     // a directory: nothing below it may change (core/txn/sealed.h)
  // A file with one name: `parent` is not the directory of that, where a quota had no room for it
  // (core/links/drop_link.h)
  kCountsElsewhere = 1024,
};

// In front are the members that most requests read: they share few cache lines.
struct Inode {
  FileId id = kNoFile;
  std::uint32_t generation = 0;
  FileType type = FileType::kRegular;
  std::uint32_t flags = 0;
  std::uint32_t mode = 0;
  std::uint32_t links = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  DosAttributes dos = 0;
  DeviceNumber device{};
  std::uint64_t size = 0;
  std::uint64_t allocated = 0;
  Timestamp atime, mtime, ctime, btime;
  std::uint64_t change = 1;
  std::uint64_t data_version = 1;
  // A record of its own in the store, loaded with the node's inode: a permission check reads nothing. Null: the mode
  // decides. Changed by set_acl() only.
  AclRef acl;
  std::uint64_t attribute_bytes =
      0;  // of its extended attributes and its ACL, names included: they count as content does
  std::uint64_t create_verifier = 0;  // of an exclusive create; 0: none
  // A directory's parent; for other types the directory whose usage chain is charged for this file (that of one of its
  // links, or the one where it lost a link). kNoFile: the root.
  FileId parent = kNoFile;
  // Directories only.
  FileId charged_to =
      kNoFile;  // the directory of a multipart upload: where it counts, instead of in its parent; that may be gone
  std::uint64_t next_cookie = 3;  // 1 and 2 are "." and ".."
  std::uint64_t entries = 0;
  // Snapshots by epoch: the epoch of the volume when the file was made; 0 before the first snapshot.
  std::uint64_t birth_epoch = 0;
  // Of a stand-in for a directory of another shard: the id there. kNoFile: the directory itself.
  FileId target = kNoFile;
  Layout layout;

  bool is_directory() const { return type == FileType::kDirectory; }
  bool has(InodeFlags flag) const { return (flags & flag) != 0; }
  void set_acl(AclRef to) {
    acl = std::move(to);
    flags = acl != nullptr ? flags | kHasAcl : flags & ~kHasAcl;
  }

  Attributes attributes() const;
  BeforeAttributes before() const { return {size, mtime, ctime, change}; }
  // The directory was set up explicitly: it stays when the keys below it are gone.
  void keep() { flags &= ~kImplicit; }
  // Marks a change of the object now: ctime and the change counter, which never stand still or go back.
  void touch(Timestamp now);
  // A change of a directory's entries or of a file's bytes: sets mtime as well, and a file needs a new backup
  // (kDosArchive).
  void touch_content(Timestamp now);

  std::string encode() const;
  static Result<Inode> decode(FileId id, std::string_view value);  // kCorrupt
};

}  // namespace stoa::core
