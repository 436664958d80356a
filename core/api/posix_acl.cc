#include "core/api/posix_acl.h"

#include <algorithm>

#include "core/api/mode_rights.h"

namespace stoa::core {
namespace {

using PosixKind = AclWho::Kind;

constexpr std::uint32_t kMaskMark = kRightWriteAcl | kRightWriteOwner;
constexpr std::uint8_t kInheritedByAll = kAceFileInherit | kAceDirectoryInherit;

bool is_for_object(const AclEntry& entry) {
  return (entry.flags & kAceInheritOnly) == 0;
}
bool is_for_children(const AclEntry& entry) {
  return (entry.flags & kInheritedByAll) != 0;
}
bool is_for_all_below(const AclEntry& entry) {
  return (entry.flags & (kInheritedByAll | kAceNoPropagate)) == kInheritedByAll;
}
bool is_named(const AclWho& who) {
  return who.kind == PosixKind::kUid || who.kind == PosixKind::kGid;
}
bool is_group(const AclWho& who) {
  return who.kind == PosixKind::kGroup || who.kind == PosixKind::kGid;
}

// Writes the form of posix_acl.h.
class PosixForm {
 public:
  PosixForm(const PosixAcl& acl, bool directory, std::uint8_t flags) : acl_(acl), dir_(directory), flags_(flags) {}

  std::vector<AclEntry> entries() && {
    const std::uint32_t all = rights_of_bits(kAllBits, dir_);
    deny(AclWho::owner(), all & ~rights(acl_.owner));
    allow(AclWho::owner(), rights(acl_.owner) | kRightsOfOwner);
    for (const auto& [id, bits] : acl_.users) {
      masked(AclWho::user(id), bits);
      deny(AclWho::user(id), all & ~rights(bits));
    }
    masked(AclWho::group(), acl_.group);
    for (const auto& [id, bits] : acl_.groups) masked(AclWho::group_of(id), bits);
    deny(AclWho::group(), all & ~rights(acl_.group));
    for (const auto& [id, bits] : acl_.groups) deny(AclWho::group_of(id), all & ~rights(bits));
    deny(AclWho::everyone(), all & ~rights(acl_.other));  // said aloud: what is inherited silently has the mode's bits
    allow(AclWho::everyone(), rights(acl_.other) | kRightsOfEverybody);
    return std::move(made_);
  }

 private:
  std::uint32_t rights(std::uint32_t bits) const { return rights_of_bits(bits, dir_); }
  void masked(const AclWho& who, std::uint32_t bits) {
    if (acl_.mask) deny(who, rights(kAllBits & ~*acl_.mask) | kMaskMark);
    allow(who, rights(bits) | kRightsOfEverybody);
  }
  void allow(const AclWho& who, std::uint32_t rights) { made_.push_back({false, flags_, rights, who}); }
  void deny(const AclWho& who, std::uint32_t rights) {
    if (rights != 0) made_.push_back({true, flags_, rights, who});
  }

  const PosixAcl& acl_;
  const bool dir_;
  const std::uint8_t flags_;
  std::vector<AclEntry> made_{};
};

// Whether both lists say the same, apart from their flags. `ignored`: rights that mean nothing.
bool same_entries(const std::vector<AclEntry>& one, const std::vector<AclEntry>& two, std::uint32_t ignored) {
  return std::ranges::equal(one, two, [&](const AclEntry& a, const AclEntry& b) {
    return a.deny == b.deny && ((a.rights ^ b.rights) & ~ignored) == 0 && a.who == b.who;
  });
}

// The POSIX ACL that the list was written from, if it was: a candidate is taken from the allowing entries, and has to
// give the same list.
std::optional<PosixAcl> exact(const std::vector<AclEntry>& list, bool directory) {
  PosixAcl found;
  for (const AclEntry& entry : list) {
    if (entry.deny) {
      if (!found.mask && (entry.rights & kMaskMark) == kMaskMark) found.mask = kAllBits & ~bits_of_rights(entry.rights);
      continue;
    }
    const std::uint32_t bits = bits_of_rights(entry.rights);
    switch (entry.who.kind) {
      case PosixKind::kOwner:
        found.owner = bits;
        break;
      case PosixKind::kGroup:
        found.group = bits;
        break;
      case PosixKind::kEveryone:
        found.other = bits;
        break;
      case PosixKind::kUid:
        found.users.push_back({entry.who.id, bits});
        break;
      case PosixKind::kGid:
        found.groups.push_back({entry.who.id, bits});
        break;
      case PosixKind::kUserText:
      case PosixKind::kGroupText:
        return std::nullopt;
    }
  }
  if (!check_posix_acl(found)) return std::nullopt;
  // A file that inherited its entries has the right of directories, too.
  const std::uint32_t ignored = directory ? 0u : std::uint32_t{kRightDeleteChild};
  if (!same_entries(list, PosixForm(found, directory, 0).entries(), ignored)) return std::nullopt;
  return found;
}

std::vector<AclEntry> for_object(const Acl& acl) {
  std::vector<AclEntry> list;
  std::ranges::copy_if(acl.entries, std::back_inserter(list), is_for_object);
  return list;
}

// What the list grants to `who` for certain. `strict`: any denial of a group counts for users and other groups, too,
// as whoever `who` is may be in it; else only what the mode looks at.
std::uint32_t granted(const std::vector<AclEntry>& list, const AclWho& who, bool strict) {
  std::uint32_t allowed = 0, denied = 0;
  for (const AclEntry& entry : list) {
    const bool speaks = entry.who == who || entry.who.kind == PosixKind::kEveryone;
    if (entry.deny && (speaks || (strict && is_group(entry.who)))) denied |= entry.rights & ~allowed;
    if (!entry.deny && speaks) allowed |= entry.rights & ~denied;
  }
  return allowed;
}

// The bits of a named entry: with all rights that they stand for, as they are granted again when the view is set.
std::uint32_t sure_bits(const std::vector<AclEntry>& list, const AclWho& who, bool directory) {
  const std::uint32_t rights = granted(list, who, true);
  const bool removes = !directory || (rights & kRightDeleteChild) != 0;
  return bits_of_rights(rights) & (removes ? kAllBits : kAllBits & ~kWriteBit);
}

PosixAcl closest(const std::vector<AclEntry>& list, bool directory) {
  PosixAcl view{.owner = bits_of_rights(granted(list, AclWho::owner(), false)),
                .group = bits_of_rights(granted(list, AclWho::group(), false)),
                .other = bits_of_rights(granted(list, AclWho::everyone(), false))};
  std::vector<AclWho> named;
  for (const AclEntry& entry : list) {
    if (is_named(entry.who)) named.push_back(entry.who);
  }
  if (named.empty()) return view;
  std::ranges::sort(named, {}, [](const AclWho& who) { return std::pair(who.kind, who.id); });
  const auto twice = std::ranges::unique(named);
  named.erase(twice.begin(), twice.end());
  view.group = sure_bits(list, AclWho::group(), directory);
  view.mask = view.group;
  for (const AclWho& who : named) {
    const std::uint32_t bits = sure_bits(list, who, directory);
    *view.mask |= bits;
    (who.kind == PosixKind::kUid ? view.users : view.groups).push_back({who.id, bits});
  }
  return view;
}

Acl by_hand(const Acl& acl, std::vector<AclEntry> entries) {
  Acl next{.entries = std::move(entries), .flags = acl.flags, .chmod = acl.chmod};
  next.flags &= static_cast<std::uint8_t>(~kAclDefaulted);
  if ((next.flags & kAclAutoInherit) != 0) next.flags |= kAclProtected;
  return next;
}

bool are_sound(const std::vector<PosixAclEntry>& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].bits > kAllBits || (i > 0 && entries[i].id <= entries[i - 1].id)) return false;
  }
  return true;
}

}  // namespace

Status check_posix_acl(const PosixAcl& acl) {
  const bool sound = (acl.owner | acl.group | acl.other | acl.mask.value_or(0)) <= kAllBits && are_sound(acl.users) &&
                     are_sound(acl.groups) && (acl.mask || acl.is_minimal());
  return sound ? Status{} : fail(Errc::kInvalid, "no POSIX ACL");
}

std::uint32_t mode_of(const PosixAcl& acl) {
  return acl.owner << 6 | acl.mask.value_or(acl.group) << 3 | acl.other;
}

PosixAcl with_mode(const PosixAcl& acl, std::uint32_t mode) {
  PosixAcl next = acl;
  next.owner = mode >> 6 & kAllBits;
  (next.mask ? *next.mask : next.group) = mode >> 3 & kAllBits;
  next.other = mode & kAllBits;
  return next;
}

std::optional<PosixAcl> masked_form(const Acl& acl, bool directory) {
  const auto marks = [](const AclEntry& entry) { return entry.deny && (entry.rights & kMaskMark) == kMaskMark; };
  if (std::ranges::none_of(acl.entries, marks)) return std::nullopt;  // of nearly all
  auto form = exact(for_object(acl), directory);
  return form && form->mask ? std::move(form) : std::nullopt;
}

PosixAcl access_view(const Acl& acl, bool directory) {
  const std::vector<AclEntry> list = for_object(acl);
  auto form = exact(list, directory);
  return form ? *std::move(form) : closest(list, directory);
}

std::optional<PosixAcl> default_form(const Acl& acl) {
  std::vector<AclEntry> list;
  std::ranges::copy_if(acl.entries, std::back_inserter(list), is_for_children);
  return std::ranges::all_of(list, is_for_all_below) ? exact(list, true) : std::nullopt;
}

std::optional<PosixAcl> default_view(const Acl& acl) {
  if (auto form = default_form(acl)) return form;
  std::vector<AclEntry> list;
  std::ranges::copy_if(acl.entries, std::back_inserter(list), [](const AclEntry& entry) {
    return is_for_all_below(entry) || (entry.deny && is_for_children(entry));
  });
  if (std::ranges::all_of(list, &AclEntry::deny)) return std::nullopt;
  PosixAcl view = closest(list, true);
  // A class that no entry speaks of gets the mode less the umask, which a default ACL cannot say: the owner, who may
  // change the mode anyway, is shown all, the others nothing.
  const auto speaks = [](const AclEntry& entry) {
    return entry.who.kind == PosixKind::kOwner || entry.who.kind == PosixKind::kEveryone;
  };
  if (std::ranges::none_of(list, speaks)) view.owner = kAllBits;
  return view;
}

Acl with_access(const Acl& acl, const PosixAcl& posix, bool directory) {
  std::vector<AclEntry> entries = PosixForm(posix, directory, 0).entries();
  for (const AclEntry& entry : acl.entries) {
    if (!is_for_children(entry)) continue;
    entries.push_back(entry);
    entries.back().flags |= kAceInheritOnly;
  }
  return by_hand(acl, std::move(entries));
}

Acl with_default(const Acl& acl, const std::optional<PosixAcl>& posix) {
  std::vector<AclEntry> entries = for_object(acl);
  for (AclEntry& entry : entries) entry.flags &= kAceInherited;
  if (posix) {
    auto below = PosixForm(*posix, true, kInheritedByAll | kAceInheritOnly).entries();
    std::ranges::move(below, std::back_inserter(entries));
  }
  return by_hand(acl, std::move(entries));
}

}  // namespace stoa::core
