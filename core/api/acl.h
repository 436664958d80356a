// The one rich access control list of all protocols: the NFSv4.1 and NT model (RFC 8881 section 6). Entries are looked
// at in order, and for each right the first one that speaks of the caller decides; a right that no entry speaks of is
// refused. Mode bits are a view of it. A file whose access its mode bits express has none.
//
// Stored but never enforced: READ_ATTRIBUTES and SYNCHRONIZE (POSIX stat() asks for no right on the file, and RFC 1813
// gives attributes with every reply).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stoa::core {

inline constexpr std::size_t kAclEntriesMax = 1024;
inline constexpr std::size_t kAclBytesMax = 64u << 10;    // as stored
inline constexpr std::size_t kAclIdentityBytesMax = 255;  // of an unresolved identity

// Rights that an entry allows or denies: acemask4 (RFC 8881 6.2.1.3). The second name is the meaning of the bit on a
// directory.
enum AccessRight : std::uint32_t {
  kRightReadData = 0x1,
  kRightListDirectory = kRightReadData,
  kRightWriteData = 0x2,
  kRightAddFile = kRightWriteData,
  kRightAppendData = 0x4,
  kRightAddSubdirectory = kRightAppendData,
  kRightReadXattrs = 0x8,  // READ_NAMED_ATTRS
  kRightWriteXattrs = 0x10,
  kRightExecute = 0x20,
  kRightSearch = kRightExecute,
  kRightDeleteChild = 0x40,
  kRightReadAttributes = 0x80,
  kRightWriteAttributes = 0x100,
  kRightWriteRetention = 0x200,
  kRightWriteRetentionHold = 0x400,
  kRightDelete = 0x10000,
  kRightReadAcl = 0x20000,
  kRightWriteAcl = 0x40000,
  kRightWriteOwner = 0x80000,
  kRightSynchronize = 0x100000,
};
inline constexpr std::uint32_t kAllRights = 0x1f07ff;

// RFC 8881 6.2.1.4. The group flag of the wire is part of AclWho.
enum AceFlags : std::uint8_t {
  kAceFileInherit = 0x01,
  kAceDirectoryInherit = 0x02,
  kAceNoPropagate = 0x04,
  kAceInheritOnly = 0x08,
  kAceInherited = 0x80,
};
inline constexpr std::uint8_t kAceFlagsKnown = 0x8f;
inline constexpr std::uint8_t kAceInheritance = 0x0f;  // flags valid on directories only

// The principal of an entry.
struct AclWho {
  enum class Kind : std::uint8_t {
    kOwner = 0,     // OWNER@
    kGroup = 1,     // GROUP@, the group of the file
    kEveryone = 2,  // EVERYONE@, owner and group included
    kUid = 3,
    kGid = 4,
    // Unresolved identities: a SID, a name@domain. They match no user, and are stored as they were written.
    kUserText = 5,
    kGroupText = 6,
  };
  Kind kind = Kind::kEveryone;
  std::uint32_t id = 0;  // kUid, kGid
  std::string text{};    // kUserText, kGroupText

  static AclWho owner() { return {Kind::kOwner}; }
  static AclWho group() { return {Kind::kGroup}; }
  static AclWho everyone() { return {Kind::kEveryone}; }
  static AclWho user(std::uint32_t uid) { return {Kind::kUid, uid}; }
  static AclWho group_of(std::uint32_t gid) { return {Kind::kGid, gid}; }
  bool has_text() const { return kind >= Kind::kUserText; }
  // Whether this is one of the three that mode bits are about.
  bool is_class() const { return kind <= Kind::kEveryone; }
  bool operator==(const AclWho&) const = default;
};

struct AclEntry {
  bool deny = false;
  std::uint8_t flags = 0;    // AceFlags
  std::uint32_t rights = 0;  // AccessRight
  AclWho who{};
  bool operator==(const AclEntry&) const = default;
};

// RFC 8881 6.4.3.2: for clients that carry a change of a directory's ACL down the tree.
enum AclFlags : std::uint8_t { kAclAutoInherit = 1, kAclProtected = 2, kAclDefaulted = 4 };
inline constexpr std::uint8_t kAclFlagsKnown = 7;

// The effect of chmod on an ACL. On a directory it holds for the directory and its children; a new directory inherits
// it from its parent.
enum class ChmodPolicy : std::uint8_t {
  kKeep = 0,     // OWNER@, GROUP@ and EVERYONE@ follow the mode, all other entries stay
  kMask = 1,     // and users and groups get no more than the mode gives to the group (RFC 8881 6.4.1.1)
  kReplace = 2,  // keeps only the rights that the mode expresses
  kRefuse = 3,   // kNotOwner; the ACL can be changed only as such
};

struct Acl {
  std::vector<AclEntry> entries{};
  std::uint8_t flags = 0;  // AclFlags
  ChmodPolicy chmod = ChmodPolicy::kKeep;
  bool operator==(const Acl&) const = default;
};
using AclRef = std::shared_ptr<const Acl>;

}  // namespace stoa::core
