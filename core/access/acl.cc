#include "core/access/acl.h"

#include <algorithm>
#include <array>

#include "core/api/acl_text.h"
#include "core/api/posix_acl.h"
#include "core/inode/acl_record.h"

namespace stoa::core {
namespace {

using Kind = AclWho::Kind;

// In the order of the mode's three-bit groups.
constexpr std::array<Kind, 3> kClasses{Kind::kOwner, Kind::kGroup, Kind::kEveryone};
// The rights of a class that the mode shows.
constexpr std::uint32_t kSeenInMode = kRightReadData | kRightWriteData | kRightAppendData | kRightExecute;

bool effective(const AclEntry& entry) {
  return (entry.flags & kAceInheritOnly) == 0;
}
bool inheritable(const AclEntry& entry) {
  return (entry.flags & (kAceFileInherit | kAceDirectoryInherit)) != 0;
}
std::uint32_t bits_of(std::uint32_t mode, std::size_t of_class) {
  return mode >> (6 - 3 * of_class) & 7;
}

// The first match decides, among the entries that `speaks(who)`.
template <class Speaks>
AclVerdict evaluate_for(const Acl& acl, Speaks speaks) {
  AclVerdict verdict;
  for (const AclEntry& entry : acl.entries) {
    if (!effective(entry) || !speaks(entry.who)) continue;
    const std::uint32_t open = entry.rights & ~(verdict.allowed | verdict.denied);
    (entry.deny ? verdict.denied : verdict.allowed) |= open;
  }
  return verdict;
}

std::uint32_t allowed_to_class(const Acl& acl, Kind of_class) {
  return evaluate_for(acl, [&](const AclWho& who) { return who.kind == of_class || who.kind == Kind::kEveryone; })
      .allowed;
}

// The ACL of its mode bits.
bool speaks_of_class(const Acl& acl, Kind of_class) {
  return std::ranges::any_of(acl.entries, [&](const AclEntry& entry) {
    return effective(entry) && (entry.rights & kSeenInMode) != 0 &&
           (entry.who.kind == of_class || entry.who.kind == Kind::kEveryone);
  });
}

void add(std::vector<AclEntry>& entries, bool deny, Kind who, std::uint32_t rights) {
  if (rights != 0) entries.push_back({.deny = deny, .rights = rights, .who = {.kind = who}});
}

// The entries without `rights` for the file itself; their inherited rights stay.
template <class Which>
std::vector<AclEntry> without(const std::vector<AclEntry>& entries, Which which) {
  std::vector<AclEntry> rest;
  rest.reserve(entries.size());
  for (const AclEntry& entry : entries) {
    const std::uint32_t taken = effective(entry) ? which(entry) & entry.rights : 0;
    if (taken == 0) {
      rest.push_back(entry);
      continue;
    }
    if (inheritable(entry)) {
      rest.push_back(entry);
      rest.back().flags |= kAceInheritOnly;
    }
    if (taken == entry.rights) continue;
    rest.push_back(entry);
    rest.back().rights &= ~taken;
    rest.back().flags &= kAceInherited;
  }
  return rest;
}

// Removes from users and groups rights that an earlier EVERYONE@ entry denies. chmod removes that denial, which must
// not grant rights to principals outside the mode.
std::vector<AclEntry> without_denied(const std::vector<AclEntry>& entries, std::uint32_t of_mode) {
  std::uint32_t allowed = 0, denied = 0;  // of EVERYONE@
  return without(entries, [&](const AclEntry& entry) -> std::uint32_t {
    if (entry.who.kind == Kind::kEveryone) (entry.deny ? denied : allowed) |= entry.rights & ~(allowed | denied);
    return entry.who.is_class() || entry.deny ? 0 : denied & of_mode;
  });
}

// Whether each class has exactly the rights of its three bits, with no bit covered in part.
bool says_mode(const Acl& acl, std::uint32_t mode, bool directory) {
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    const std::uint32_t has = allowed_to_class(acl, kClasses[i]) & rights_of_bits(7, directory);
    if (has != rights_of_bits(bits_of(mode, i), directory)) return false;
  }
  return true;
}

// Takes out of `entries` the rights granted to a class beside the mode bits, except rights that any entry denies.
std::uint32_t take_allowed(std::vector<AclEntry>& entries, Kind of_class) {
  std::uint32_t denied = 0;
  for (const AclEntry& entry : entries) {
    if (entry.deny && effective(entry)) denied |= entry.rights;
  }
  std::uint32_t taken = 0;
  std::erase_if(entries, [&](const AclEntry& entry) {
    const bool movable = entry.who.kind == of_class && !entry.deny && effective(entry) && !inheritable(entry) &&
                         (entry.rights & denied) == 0;
    if (movable) taken |= entry.rights;
    return movable;
  });
  return taken;
}

}  // namespace

AclVerdict evaluate(const Acl& acl, const Credentials& cred, std::uint32_t uid, std::uint32_t gid) {
  const bool is_owner = cred.uid == uid;
  const bool in_group = cred.in_group(gid);
  return evaluate_for(acl, [&](const AclWho& who) {
    switch (who.kind) {
      case Kind::kOwner:
        return is_owner;
      case Kind::kGroup:
        return in_group;
      case Kind::kEveryone:
        return true;
      case Kind::kUid:
        return who.id == cred.uid;
      case Kind::kGid:
        return cred.in_group(who.id);
      case Kind::kUserText:
      case Kind::kGroupText:
        return false;
    }
    return false;
  });
}

Status check_acl(const Acl& acl, bool directory) {
  if (acl.entries.size() > kAclEntriesMax) return fail(Cause::kAclTooLarge);
  if ((acl.flags & ~kAclFlagsKnown) != 0) return fail(Errc::kInvalid, "an unknown flag of the ACL");
  for (const AclEntry& entry : acl.entries) {
    if ((entry.rights & ~kAllRights) != 0) return fail(Errc::kInvalid, "an unknown right");
    if ((entry.flags & ~kAceFlagsKnown) != 0) return fail(Errc::kInvalid, "an unknown flag of an entry");
    if (!directory && (entry.flags & kAceInheritance) != 0) return fail(Cause::kAclInheritedByFile);
    if (entry.who.has_text() && !may_be_identity(entry.who.text)) return fail(Errc::kInvalid, "no identity");
  }
  if (encode_acl(acl).size() > kAclBytesMax) return fail(Cause::kAclTooLarge);
  return {};
}

std::uint32_t mode_of(const Acl& acl, bool directory) {
  if (const auto posix = masked_form(acl, directory)) return mode_of(*posix);
  std::uint32_t mode = 0;
  for (const Kind of_class : kClasses) mode = mode << 3 | bits_of_rights(allowed_to_class(acl, of_class));
  return mode;
}

Acl acl_of_mode(std::uint32_t mode, bool directory) {
  const std::uint32_t owner = bits_of(mode, 0), group = bits_of(mode, 1), other = bits_of(mode, 2);
  const auto rights = [&](std::uint32_t bits) { return rights_of_bits(bits, directory); };
  Acl acl;
  // A class that has less than those behind it is denied the rest.
  add(acl.entries, true, Kind::kOwner, rights((group | other) & ~owner));
  add(acl.entries, false, Kind::kOwner, rights(owner) | kRightsOfOwner);
  add(acl.entries, true, Kind::kGroup, rights(other & ~group));
  add(acl.entries, false, Kind::kGroup, rights(group) | kRightsOfEverybody);
  add(acl.entries, false, Kind::kEveryone, rights(other) | kRightsOfEverybody);
  return acl;
}

bool is_trivial(const Acl& acl, bool directory) {
  if ((acl.flags & ~kAclDefaulted) != 0 || acl.chmod != ChmodPolicy::kKeep) return false;
  for (const AclEntry& entry : acl.entries) {
    if (!entry.who.is_class() || entry.flags != 0) return false;
  }
  if (masked_form(acl, directory)) return false;  // a mode has no mask beside the group
  const Acl plain = acl_of_mode(mode_of(acl, directory), directory);
  // All that a caller can be.
  for (const bool is_owner : {false, true}) {
    for (const bool in_group : {false, true}) {
      const auto speaks = [&](const AclWho& who) {
        return who.kind == Kind::kEveryone || (who.kind == Kind::kOwner && is_owner) ||
               (who.kind == Kind::kGroup && in_group);
      };
      if (evaluate_for(acl, speaks).allowed != evaluate_for(plain, speaks).allowed) return false;
    }
  }
  return true;
}

Acl with_mode(const Acl& acl, std::uint32_t mode, bool directory, bool mask) {
  if (const auto posix = masked_form(acl, directory)) return with_access(acl, with_mode(*posix, mode), directory);
  Acl changed = acl;
  // Set by hand: no client shall carry a change from above over it.
  if ((acl.flags & kAclAutoInherit) != 0) changed.flags |= kAclProtected;
  if (mask) {
    const std::uint32_t beyond_group = rights_of_bits(~bits_of(mode, 1), directory);
    changed.entries = without(
        changed.entries, [&](const AclEntry& entry) { return entry.who.is_class() || entry.deny ? 0 : beyond_group; });
  }
  if (says_mode(changed, mode, directory)) return changed;

  const std::uint32_t of_mode = rights_of_bits(7, directory);
  std::vector<AclEntry> rest = without(without_denied(changed.entries, of_mode),
                                       [&](const AclEntry& entry) { return entry.who.is_class() ? of_mode : 0; });
  const std::uint32_t owner = bits_of(mode, 0), group = bits_of(mode, 1), other = bits_of(mode, 2);
  const auto rights = [&](std::uint32_t bits) { return rights_of_bits(bits, directory); };
  std::array<std::uint32_t, 3> more{};
  for (std::size_t i = 0; i < kClasses.size(); ++i) more[i] = take_allowed(rest, kClasses[i]);
  changed.entries.clear();
  // The owner first: entries of users or groups must not change its rights against the mode.
  add(changed.entries, true, Kind::kOwner, of_mode & ~rights(owner));
  add(changed.entries, false, Kind::kOwner, rights(owner) | more[0]);
  std::ranges::move(rest, std::back_inserter(changed.entries));
  add(changed.entries, true, Kind::kGroup, rights(other & ~group));
  add(changed.entries, false, Kind::kGroup, rights(group) | more[1]);
  add(changed.entries, false, Kind::kEveryone, rights(other) | more[2]);
  return changed;
}

Acl inherited(const Acl& parent, bool directory) {
  Acl acl;
  for (const AclEntry& entry : parent.entries) {
    const bool by_file = (entry.flags & kAceFileInherit) != 0, by_directory = (entry.flags & kAceDirectoryInherit) != 0;
    const bool once = (entry.flags & kAceNoPropagate) != 0;
    if (directory ? !by_directory && (!by_file || once) : !by_file) continue;
    AclEntry next = entry;
    if (!directory || once) {
      next.flags = 0;
    } else if (by_directory) {
      next.flags &= static_cast<std::uint8_t>(~kAceInheritOnly);
    } else {
      next.flags |= kAceInheritOnly;  // meant for files only
    }
    next.flags |= kAceInherited;
    acl.entries.push_back(std::move(next));
  }
  acl.flags = parent.flags & kAclAutoInherit;
  if (directory) acl.chmod = parent.chmod;
  return acl;
}

std::uint32_t mode_with_inherited(const Acl& acl, std::uint32_t most, std::uint32_t otherwise, bool directory) {
  const std::uint32_t of_acl = mode_of(acl, directory);
  std::uint32_t mode = 0;
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    const bool spoken = speaks_of_class(acl, kClasses[i]);
    mode = mode << 3 | (spoken ? bits_of(of_acl & most, i) : bits_of(otherwise, i));
  }
  return mode;
}

}  // namespace stoa::core
