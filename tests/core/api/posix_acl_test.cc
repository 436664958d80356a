// POSIX ACLs as a view of the one ACL: the form they are written in, what it decides, and what is shown of others.
#include "core/api/posix_acl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/access/acl.h"
#include "core/api/acl_text.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kFileOwner = 1, kFileGroup = 2;

Acl acl_of(std::string_view text) {
  const auto parsed = parse_acl(text, [](auto, bool) { return std::nullopt; });
  EXPECT_TRUE(parsed) << describe(parsed.error());
  return parsed ? parsed->acl : Acl{};
}

// As getfacl -c prints it, with commas.
std::string text_of(const PosixAcl& acl) {
  const auto bits = [](std::uint32_t b) {
    return std::string{(b & 4) != 0 ? 'r' : '-', (b & 2) != 0 ? 'w' : '-', (b & 1) != 0 ? 'x' : '-'};
  };
  std::string text = "user::" + bits(acl.owner);
  for (const auto& [id, b] : acl.users) text += ",user:" + std::to_string(id) + ":" + bits(b);
  text += ",group::" + bits(acl.group);
  for (const auto& [id, b] : acl.groups) text += ",group:" + std::to_string(id) + ":" + bits(b);
  if (acl.mask) text += ",mask::" + bits(*acl.mask);
  return text + ",other::" + bits(acl.other);
}
std::string text_of(const std::optional<PosixAcl>& acl) {
  return acl ? text_of(*acl) : "none";
}

PosixAcl random_posix(std::mt19937& random) {
  PosixAcl acl;
  for (std::uint32_t* const bits : {&acl.owner, &acl.group, &acl.other}) *bits = random() % 8;
  if (random() % 4 == 0) return acl;
  acl.mask = random() % 8;
  const auto some = [&](std::vector<PosixAclEntry>& entries) {
    std::map<std::uint32_t, std::uint32_t> by_id;
    for (std::size_t i = random() % 4; i > 0; --i) by_id[random() % 3 == 0 ? random() : random() % 6] = random() % 8;
    for (const auto& [id, bits] : by_id) entries.push_back({id, bits});
  };
  some(acl.users);
  some(acl.groups);
  return acl;
}

Credentials random_caller(std::mt19937& random) {
  Credentials caller;
  caller.uid = random() % 6;
  caller.gid = random() % 6;
  for (std::size_t i = random() % 3; i > 0; --i) caller.groups.push_back(random() % 6);
  return caller;
}

// acl(5), "access check algorithm", for one right.
bool posix_grants(const PosixAcl& acl, const Credentials& caller, std::uint32_t bit) {
  const std::uint32_t mask = acl.mask.value_or(kAllBits);
  if (caller.uid == kFileOwner) return (acl.owner & bit) != 0;
  for (const auto& [id, bits] : acl.users) {
    if (caller.uid == id) return (bits & mask & bit) != 0;
  }
  bool in_any = false;
  const auto of_group = [&](std::uint32_t gid, std::uint32_t bits) {
    if (!caller.in_group(gid)) return false;
    in_any = true;
    return (bits & mask & bit) != 0;
  };
  if (of_group(kFileGroup, acl.group)) return true;
  for (const auto& [id, bits] : acl.groups) {
    if (of_group(id, bits)) return true;
  }
  return !in_any && (acl.other & bit) != 0;
}

std::uint32_t granted_to(const Acl& acl, const Credentials& caller) {
  return evaluate(acl, caller, kFileOwner, kFileGroup).allowed;
}

TEST(PosixAclTest, TheFormIsWrittenAsItsDescriptionSays) {
  const PosixAcl acl{.owner = 6, .group = 4, .other = 0, .mask = 4, .users = {{1000, 6}}, .groups = {{50, 7}}};
  EXPECT_EQ(print_acl(with_access({}, acl, false)),
            "D::OWNER@:x\n"
            "A::OWNER@:rwatTnNcCy\n"
            "D::1000:waxNCo\n"
            "A::1000:rwatnNcy\n"
            "D::1000:x\n"
            "D::GROUP@:waxNCo\n"
            "A::GROUP@:rtncy\n"
            "D:g:50:waxNCo\n"
            "A:g:50:rwaxtnNcy\n"
            "D::GROUP@:waxN\n"
            "D::EVERYONE@:rwaxnN\n"
            "A::EVERYONE@:tcy\n");
}

TEST(PosixAclTest, AnyIsReadAsItWasWritten) {
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    const bool directory = random() % 2 == 0;
    const PosixAcl access = random_posix(random);
    Acl acl = with_access({}, access, directory);
    ASSERT_TRUE(check_acl(acl, directory));
    ASSERT_EQ(access_view(acl, directory), access) << text_of(access);
    ASSERT_EQ(masked_form(acl, directory), access.mask ? std::optional(access) : std::nullopt);
    ASSERT_EQ(mode_of(acl, directory), mode_of(access));
    ASSERT_EQ(is_trivial(acl, directory), access.is_minimal()) << text_of(access);
    ASSERT_EQ(default_view(acl), std::nullopt);
    if (!directory) continue;
    const PosixAcl below = random_posix(random), other = random_posix(random);
    acl = with_default(acl, below);
    ASSERT_TRUE(check_acl(acl, true));
    ASSERT_EQ(access_view(acl, true), access);
    ASSERT_EQ(default_view(acl), below);
    // Each is set without the other.
    acl = with_access(acl, other, true);
    ASSERT_EQ(text_of(access_view(acl, true)), text_of(other));
    ASSERT_EQ(default_view(acl), below);
    acl = with_default(acl, std::nullopt);
    ASSERT_EQ(access_view(acl, true), other);
    ASSERT_EQ(default_view(acl), std::nullopt);
    ASSERT_EQ(is_trivial(acl, true), other.is_minimal());
  }
}

TEST(PosixAclTest, TheFormDecidesAsPosixHasIt) {
  std::mt19937 random(2);
  for (int round = 0; round < 4000; ++round) {
    const bool directory = random() % 2 == 0;
    const PosixAcl posix = random_posix(random);
    const Acl acl = with_access({}, posix, directory);
    for (int callers = 0; callers < 10; ++callers) {
      const Credentials caller = random_caller(random);
      const std::uint32_t has = granted_to(acl, caller);
      for (const std::uint32_t bit : {kReadBit, kWriteBit, kExecuteBit}) {
        const std::uint32_t rights = rights_of_bits(bit, directory);
        const bool grants = posix_grants(posix, caller, bit);
        ASSERT_EQ(has & rights, grants ? rights : 0u) << text_of(posix) << " uid " << caller.uid << " bit " << bit;
      }
      ASSERT_EQ((has & kRightWriteAcl) != 0, caller.uid == kFileOwner);
    }
  }
}

TEST(PosixAclTest, ChmodSetsTheMask) {
  std::mt19937 random(3);
  for (int round = 0; round < 4000; ++round) {
    const bool directory = random() % 2 == 0;
    const PosixAcl posix = random_posix(random), below = random_posix(random);
    Acl acl = with_access({}, posix, directory);
    if (directory) acl = with_default(acl, below);
    const std::uint32_t mode = random() % 01000;
    acl = with_mode(acl, mode, directory, random() % 2 == 0);
    ASSERT_EQ(mode_of(acl, directory), mode);
    PosixAcl expected = posix;
    expected.owner = mode >> 6;
    (posix.mask ? *expected.mask : expected.group) = mode >> 3 & 7;
    expected.other = mode & 7;
    ASSERT_EQ(text_of(access_view(acl, directory)), text_of(expected));
    if (directory) {
      ASSERT_EQ(default_view(acl), below);
    }
  }
}

// acl(5), "object creation and default ACLs".
TEST(PosixAclTest, ADefaultAclIsInheritedWithinTheMode) {
  std::mt19937 random(4);
  for (int round = 0; round < 4000; ++round) {
    const bool directory = random() % 2 == 0;
    const PosixAcl below = random_posix(random);
    Acl acl = inherited(with_default(acl_of_mode(0755, true), below), directory);
    const std::uint32_t mode = random() % 01000;
    ASSERT_EQ(mode_with_inherited(acl, mode, random() % 01000, directory), mode_of(below) & mode)
        << "the umask does not count";
    if (directory) {
      ASSERT_EQ(default_view(acl), below);
    }
    acl = with_mode(acl, mode_of(below) & mode, directory, false);
    ASSERT_TRUE(check_acl(acl, directory));
    ASSERT_EQ(text_of(access_view(acl, directory)), text_of(with_mode(below, mode_of(below) & mode)));
    if (directory) {
      ASSERT_EQ(default_view(acl), below);
    }
  }
}

TEST(PosixAclTest, OfOtherAclsTheClosestIsShown) {
  struct Case {
    std::string_view acl, access, inherited;
  };
  const Case cases[] = {
      {"A::OWNER@:rwaDxnN\nA:g:GROUP@:rxn\nA::EVERYONE@:rxn", "user::rwx,group::r-x,other::r-x", "none"},
      {"", "user::---,group::---,other::---", "none"},
      // Named entries have a mask of all that they have; everyone's rights are theirs as well.
      {"A::OWNER@:r\nA::1000:waDN\nA::EVERYONE@:r", "user::r--,user:1000:rw-,group::r--,mask::rw-,other::r--", "none"},
      {"A::OWNER@:r\nA:g:50:x", "user::r--,group::---,group:50:--x,mask::--x,other::---", "none"},
      {"D::1000:r\nA::EVERYONE@:r", "user::r--,user:1000:---,group::r--,mask::r--,other::r--", "none"},
      // Half of what writing takes is not shown.
      {"A::1000:rw\nA::1001:rwa\nA::EVERYONE@:a",
       "user::---,user:1000:r--,user:1001:r--,group::---,mask::r--,other::---", "none"},
      {"A::1000:rwaD", "user::---,user:1000:rw-,group::---,mask::rw-,other::---", "none"},
      // A user may be in the group that is denied, and a member of one group in the other.
      {"D:g:50:r\nA::1000:rx\nA:g:60:rx",
       "user::---,user:1000:--x,group::---,group:50:---,group:60:--x,mask::--x,other::---", "none"},
      {"D::GROUP@:r\nA::1000:r", "user::---,user:1000:---,group::---,mask::---,other::---", "none"},
      // What comes behind counts no more, and who matches nobody is not shown.
      {"A::1000:r\nD:g:50:r", "user::---,user:1000:r--,group::---,group:50:---,mask::r--,other::---", "none"},
      {"A::S-1-5-32:rwax\nD::bob@example.org:r\nA::EVERYONE@:r", "user::r--,group::r--,other::r--", "none"},
      // Inherited entries.
      {"A:fd:1000:rx\nA::EVERYONE@:r", "user::r--,user:1000:r-x,group::r--,mask::r-x,other::r--",
       "user::rwx,user:1000:r-x,group::---,mask::r-x,other::---"},
      {"A:fdi:OWNER@:r\nA:fdi:EVERYONE@:x\nA::EVERYONE@:x", "user::--x,group::--x,other::--x",
       "user::r-x,group::--x,other::--x"},
      {"A:f:EVERYONE@:r\nA:d:EVERYONE@:x\nA:fdn:EVERYONE@:wa", "user::rwx,group::rwx,other::rwx", "none"},
      {"D:f:1000:r\nA:fd:1000:rx", "user::---,user:1000:--x,group::---,mask::--x,other::---",
       "user::rwx,user:1000:--x,group::---,mask::--x,other::---"},
      {"D:fd:1000:r", "user::---,user:1000:---,group::---,mask::---,other::---", "none"},
  };
  for (const Case& one : cases) {
    const Acl acl = acl_of(one.acl);
    EXPECT_EQ(text_of(access_view(acl, true)), one.access) << one.acl;
    EXPECT_EQ(text_of(default_view(acl)), one.inherited) << one.acl;
    EXPECT_FALSE(masked_form(acl, true));
  }
  EXPECT_EQ(text_of(access_view(acl_of("A::1000:rwa"), true)),
            "user::---,user:1000:r--,group::---,mask::r--,other::---")
      << "w of a directory removes";
  EXPECT_EQ(text_of(access_view(acl_of("A::1000:rwa"), false)),
            "user::---,user:1000:rw-,group::---,mask::rw-,other::---");
}

// What is shown may be copied, or set again: nobody gets more by that.
TEST(PosixAclTest, NoMoreIsShownThanIsGranted) {
  std::mt19937 random(5);
  const auto who = [&]() -> AclWho {
    switch (random() % 6) {
      case 0:
        return AclWho::owner();
      case 1:
        return AclWho::group();
      case 2:
        return AclWho::user(random() % 6);
      case 3:
        return AclWho::group_of(random() % 6);
      case 4:
        return {AclWho::Kind::kUserText, 0, "S-1-5"};
      default:
        return AclWho::everyone();
    }
  };
  for (int round = 0; round < 4000; ++round) {
    const bool directory = random() % 2 == 0;
    Acl acl;
    for (std::size_t i = random() % 8; i > 0; --i) {
      const auto flags = static_cast<std::uint8_t>(directory ? random() & kAceInheritance : 0);
      acl.entries.push_back({.deny = random() % 3 == 0,
                             .flags = flags,
                             .rights = static_cast<std::uint32_t>(random()) & kAllRights,
                             .who = who()});
    }
    const PosixAcl view = access_view(acl, directory);
    ASSERT_TRUE(check_posix_acl(view));
    if (view.is_minimal()) {
      ASSERT_EQ(mode_of(view), mode_of(acl, directory));
    }
    const Acl again = with_access(acl, view, directory);
    ASSERT_EQ(access_view(again, directory), view);
    for (int callers = 0; callers < 10; ++callers) {
      const Credentials caller = random_caller(random);
      if (caller.uid == kFileOwner) continue;  // the owner has what the mode shows, and may change it
      const std::uint32_t before = bits_of_rights(granted_to(acl, caller));
      for (const std::uint32_t bit : {kReadBit, kWriteBit, kExecuteBit}) {
        const bool shown = posix_grants(view, caller, bit);
        ASSERT_TRUE(!shown || (before & bit) != 0) << print_acl(acl) << text_of(view) << " uid " << caller.uid;
      }
      ASSERT_EQ(bits_of_rights(granted_to(again, caller)) & ~before, 0u);
    }
    if (const auto below = default_view(acl)) {
      ASSERT_TRUE(check_posix_acl(*below));
      ASSERT_EQ(default_view(with_default(acl, below)), below);
      const Acl child = inherited(acl, true);
      for (int callers = 0; callers < 10; ++callers) {
        const Credentials caller = random_caller(random);
        if (caller.uid == kFileOwner) continue;
        for (const std::uint32_t bit : {kReadBit, kWriteBit, kExecuteBit}) {
          ASSERT_TRUE(!posix_grants(*below, caller, bit) || (bits_of_rights(granted_to(child, caller)) & bit) != 0)
              << print_acl(acl) << text_of(*below);
        }
      }
    }
  }
}

// Who changes one entry of the form by NFSv4 has an ACL of its own making.
TEST(PosixAclTest, AnAclThatIsNearlyTheFormIsNot) {
  const PosixAcl posix{.owner = 7, .group = 5, .other = 0, .mask = 7, .users = {{5, 7}, {6, 1}}, .groups = {{7, 6}}};
  const Acl form = with_access({}, posix, true);
  ASSERT_TRUE(masked_form(form, true));
  for (std::size_t i = 0; i < form.entries.size(); ++i) {
    Acl changed = form;
    changed.entries[i].deny = !changed.entries[i].deny;
    EXPECT_FALSE(masked_form(changed, true)) << i;
    changed = form;
    changed.entries.erase(changed.entries.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(masked_form(changed, true)) << i;
    changed = form;
    changed.entries[i].rights ^= kRightDelete;
    EXPECT_FALSE(masked_form(changed, true)) << i;
    if (i == 0) continue;
    changed = form;
    std::swap(changed.entries[i - 1], changed.entries[i]);
    EXPECT_FALSE(masked_form(changed, true)) << i;
  }
  // Flags of inheritance say nothing of the file itself; of directories, a file need not know.
  Acl flagged = form;
  for (AclEntry& entry : flagged.entries) entry.flags = kAceInherited | kAceFileInherit;
  EXPECT_EQ(masked_form(flagged, true), posix);
  EXPECT_EQ(masked_form(form, false), posix);
  EXPECT_FALSE(masked_form(with_access({}, posix, false), true));
}

TEST(PosixAclTest, FlagsAndThePolicyOfChmodStay) {
  Acl acl = acl_of("flags:auto_inherit\nchmod:refuse\nA:fd:EVERYONE@:r");
  acl.flags |= kAclDefaulted;
  for (const Acl& next : {with_access(acl, {.owner = 7}, true), with_default(acl, PosixAcl{.owner = 7})}) {
    EXPECT_EQ(next.flags, kAclAutoInherit | kAclProtected);
    EXPECT_EQ(next.chmod, ChmodPolicy::kRefuse);
  }
  // Of an entry for both, each half can be replaced.
  EXPECT_EQ(text_of(default_view(with_access(acl, {.owner = 7}, true))), "user::r--,group::r--,other::r--");
  EXPECT_EQ(text_of(access_view(with_default(acl, PosixAcl{.owner = 7}), true)), "user::r--,group::r--,other::r--");
}

TEST(PosixAclTest, WhatIsNoPosixAclIsRefused) {
  EXPECT_TRUE(check_posix_acl({}));
  EXPECT_TRUE(check_posix_acl({.owner = 7, .group = 7, .other = 7, .mask = 7, .users = {{0, 7}, {~0u, 0}}}));
  const PosixAcl wrong[] = {
      {.owner = 8},
      {.group = 8},
      {.other = 8},
      {.mask = 8},
      {.users = {{1, 7}}},                      // no mask
      {.groups = {{1, 7}}},                     // no mask
      {.mask = 7, .users = {{1, 8}}},           // bits
      {.mask = 7, .users = {{2, 7}, {1, 7}}},   // order
      {.mask = 7, .groups = {{1, 7}, {1, 7}}},  // twice
  };
  for (const PosixAcl& acl : wrong) EXPECT_EQ(check_posix_acl(acl).error().code, Errc::kInvalid) << text_of(acl);
}

}  // namespace
}  // namespace stoa::core
