// POSIX ACLs (POSIX.1e draft 17, acl(5)) as a view of the one ACL that decides (acl.h), and back.
//
// A POSIX ACL is written in one form of entries, from which it is read again exactly, with its mask and what the mask
// takes away. For a mask m, users and groups, "all" being the rights of rwx:
//
//   D OWNER@ all but owner's     A OWNER@ owner's
//   D u      all but m's, mark   A u      u's                 D u all but u's         each user, by ascending id
//   D GROUP@ all but m's, mark   A GROUP@ group's
//   D g      all but m's, mark   A g      g's                 each group, by ascending id
//   D GROUP@ all but group's     D g all but g's              each group
//   D EVERYONE@ all but other's  A EVERYONE@ other's
//
// The mark is two rights that POSIX never gives to these (WRITE_ACL, WRITE_OWNER); it tells a mask of rwx from none.
// Denials of nothing are left out, and without a mask all entries with the mark are. A default ACL is the same form in
// inherited entries. The form decides as POSIX has it, with one exception: who is in several groups has the rights of
// all of them at once, where POSIX wants one entry that has all that is asked for (as draft-ietf-nfsv4-acl-mapping).
//
// An ACL in the form with a mask is POSIX's in all that is said of it: the group's bits of its mode are the mask, and
// chmod sets the mask (core/access/acl.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "core/api/acl.h"

namespace stoa::core {

struct PosixAclEntry {
  std::uint32_t id = 0;
  std::uint32_t bits = 0;  // kReadBit...
  bool operator==(const PosixAclEntry&) const = default;
};

struct PosixAcl {
  std::uint32_t owner = 0, group = 0, other = 0;  // bits
  std::optional<std::uint32_t> mask{};
  std::vector<PosixAclEntry> users{}, groups{};  // by ascending id, each id once
  // Three entries, which a mode expresses.
  bool is_minimal() const { return !mask && users.empty() && groups.empty(); }
  bool operator==(const PosixAcl&) const = default;
};

// kInvalid: bits beyond rwx, ids that are not ascending, users or groups without a mask.
Status check_posix_acl(const PosixAcl& acl);

// The nine bits that the ACL shows in a mode, and the ACL after chmod to them.
std::uint32_t mode_of(const PosixAcl& acl);
PosixAcl with_mode(const PosixAcl& acl, std::uint32_t mode);

// The access ACL, if the entries for the file itself are in the form and have a mask.
std::optional<PosixAcl> masked_form(const Acl& acl, bool directory);

// The default ACL, if all inherited entries are in the form.
std::optional<PosixAcl> default_form(const Acl& acl);

// What is shown of any ACL. In the form: exactly that. Else the closest POSIX ACL that grants no more than the ACL
// does, since it may be copied to another place, or be set again: a user has what it is granted by name or as
// everyone, less all that is denied to it or to any group; a group as well; inherited entries count when files and
// directories below inherit them. Unresolved identities are not shown. Owner and others are those of the mode; the
// group as well where no users or groups are named.
PosixAcl access_view(const Acl& acl, bool directory);
// The default ACL of a directory. Nothing: new files inherit nothing that a POSIX ACL could say.
std::optional<PosixAcl> default_view(const Acl& acl);

// `acl` with this in place of its access ACL, or of its default ACL. The other of the two stays, as do ChmodPolicy and
// flags; as by chmod, an ACL with AUTO_INHERIT is protected from now on. `posix` is sound (check_posix_acl()).
Acl with_access(const Acl& acl, const PosixAcl& posix, bool directory);
Acl with_default(const Acl& acl, const std::optional<PosixAcl>& posix);

}  // namespace stoa::core
