// Evaluation of lists of entries (RFC 8881 chapter 6), without a volume.
#include "core/access/acl.h"

#include <gtest/gtest.h>

#include <random>

#include "core/inode/acl_record.h"

namespace stoa::core {
namespace {

constexpr std::uint32_t kOwnerId = 10, kGroupId = 20;

AclEntry allow(AclWho who, std::uint32_t rights, std::uint8_t flags = 0) {
  return {.deny = false, .flags = flags, .rights = rights, .who = std::move(who)};
}
AclEntry deny(AclWho who, std::uint32_t rights, std::uint8_t flags = 0) {
  return {.deny = true, .flags = flags, .rights = rights, .who = std::move(who)};
}
Acl list(std::vector<AclEntry> entries) {
  return {.entries = std::move(entries)};
}
AclVerdict of(const Acl& acl, Credentials cred) {
  return evaluate(acl, cred, kOwnerId, kGroupId);
}
std::uint32_t allowed(const Acl& acl, Credentials cred) {
  return of(acl, std::move(cred)).allowed;
}

const Credentials kTheOwner{.uid = kOwnerId, .gid = 1};
const Credentials kAMember{.uid = 11, .gid = 1, .groups = {kGroupId}};
const Credentials kSomebody{.uid = 12, .gid = 2};

constexpr std::uint32_t kRead = kRightReadData, kWrite = kRightWriteData | kRightAppendData;

TEST(AclTest, TheFirstEntryThatSpeaksOfARightDecides) {
  const Acl acl = list({allow(AclWho::user(12), kRead), deny(AclWho::everyone(), kRead | kWrite),
                        allow(AclWho::everyone(), kWrite | kRightExecute)});
  EXPECT_EQ(allowed(acl, kSomebody), kRead | kRightExecute);
  EXPECT_EQ(of(acl, kSomebody).denied, kWrite);
  EXPECT_EQ(allowed(acl, kAMember), kRightExecute + 0u);
  EXPECT_EQ(of(acl, kAMember).denied, kRead | kWrite);
}

TEST(AclTest, WhatNoEntrySpeaksOfIsNeitherAllowedNorDenied) {
  const AclVerdict verdict = of({}, kTheOwner);
  EXPECT_EQ(verdict.allowed, 0u);
  EXPECT_EQ(verdict.denied, 0u);
}

TEST(AclTest, EntriesSpeakOfWhomTheyName) {
  EXPECT_EQ(allowed(list({allow(AclWho::owner(), kRead)}), kTheOwner), kRead);
  EXPECT_EQ(allowed(list({allow(AclWho::owner(), kRead)}), kAMember), 0u);
  EXPECT_EQ(allowed(list({allow(AclWho::group(), kRead)}), kAMember), kRead);
  EXPECT_EQ(allowed(list({allow(AclWho::group(), kRead)}), kTheOwner), 0u);
  EXPECT_EQ(allowed(list({allow(AclWho::everyone(), kRead)}), kTheOwner), kRead);  // unlike "other" of a mode
  EXPECT_EQ(allowed(list({allow(AclWho::group_of(2), kRead)}), kSomebody), kRead);
  EXPECT_EQ(allowed(list({allow(AclWho::group_of(12), kRead)}), kSomebody), 0u);
  EXPECT_EQ(allowed(list({allow(AclWho::user(2), kRead)}), kSomebody), 0u);
  EXPECT_EQ(allowed(list({allow({AclWho::Kind::kUserText, 12, "S-1-5-12"}, kRead)}), kSomebody), 0u);
  EXPECT_EQ(allowed(list({allow(AclWho::everyone(), kRead, kAceFileInherit | kAceInheritOnly)}), kSomebody), 0u);
}

// RFC 8881 6.3.2
TEST(AclTest, TheModeIsWhatOwnerGroupAndEveryoneAreAllowed) {
  EXPECT_EQ(mode_of({}, false), 0u);
  EXPECT_EQ(mode_of(list({allow(AclWho::everyone(), kRead | kWrite | kRightExecute)}), false), 0777u);
  EXPECT_EQ(mode_of(list({allow(AclWho::owner(), kRead | kWrite), allow(AclWho::group(), kRead)}), false), 0640u);
  EXPECT_EQ(mode_of(list({deny(AclWho::owner(), kRead), allow(AclWho::everyone(), kRead)}), false), 0044u);
  EXPECT_EQ(mode_of(list({allow(AclWho::everyone(), kRead), deny(AclWho::owner(), kRead)}), false), 0444u);
  // Both rights make "w"; named users and groups do not count.
  EXPECT_EQ(mode_of(list({allow(AclWho::owner(), kRightWriteData), allow(AclWho::group(), kRightAppendData)}), false),
            0u);
  EXPECT_EQ(mode_of(list({allow(AclWho::user(kOwnerId), kRead), allow(AclWho::group_of(kGroupId), kRead)}), false), 0u);
}

TEST(AclTest, AModeAndItsAclSayTheSame) {
  for (const bool directory : {false, true}) {
    for (std::uint32_t mode = 0; mode <= 0777; ++mode) {
      const Acl acl = acl_of_mode(mode, directory);
      ASSERT_EQ(mode_of(acl, directory), mode);
      ASSERT_TRUE(is_trivial(acl, directory)) << std::oct << mode;
      const std::uint32_t of_mode = rights_of_bits(7, directory);
      ASSERT_EQ(allowed(acl, kTheOwner) & of_mode, rights_of_bits(mode >> 6, directory)) << std::oct << mode;
      ASSERT_EQ(allowed(acl, {.uid = kOwnerId, .gid = kGroupId}) & of_mode, rights_of_bits(mode >> 6, directory));
      ASSERT_EQ(allowed(acl, kAMember) & of_mode, rights_of_bits(mode >> 3, directory)) << std::oct << mode;
      ASSERT_EQ(allowed(acl, kSomebody) & of_mode, rights_of_bits(mode, directory)) << std::oct << mode;
    }
  }
}

TEST(AclTest, WhatSaysMoreThanItsModeIsNotTrivial) {
  const Acl plain = acl_of_mode(0640, false);
  const auto with = [&](AclEntry entry) {
    Acl acl = plain;
    acl.entries.push_back(std::move(entry));
    return acl;
  };
  EXPECT_FALSE(is_trivial(with(allow(AclWho::user(5), kRead)), false));
  EXPECT_FALSE(is_trivial(with(allow(AclWho::owner(), kRightDelete)), false));
  EXPECT_FALSE(is_trivial(with(allow(AclWho::everyone(), kRead, kAceFileInherit | kAceInheritOnly)), true));
  EXPECT_TRUE(is_trivial(with(deny(AclWho::everyone(), kRightWriteOwner)), false));
  EXPECT_FALSE(is_trivial({}, false));
  Acl flagged = plain;
  flagged.flags = kAclAutoInherit;
  EXPECT_FALSE(is_trivial(flagged, false));
  flagged.flags = kAclDefaulted;
  EXPECT_TRUE(is_trivial(flagged, false));
  flagged.chmod = ChmodPolicy::kRefuse;
  EXPECT_FALSE(is_trivial(flagged, true));
}

// RFC 8881 6.4.1.1
TEST(AclTest, ChmodKeepsAllOtherEntriesAndWhatIsInherited) {
  const AclEntry named = allow(AclWho::user(12), kRead | kWrite, kAceInherited);
  const AclEntry lost = deny({AclWho::Kind::kGroupText, 0, "S-1-5-32-544"}, kWrite);
  const AclEntry inherit_only = allow(AclWho::owner(), kWrite, kAceFileInherit | kAceInheritOnly);
  const Acl before = list({allow(AclWho::owner(), kRead | kWrite | kRightDelete), named, lost, inherit_only,
                           allow(AclWho::group(), kRead | kRightExecute, kAceFileInherit | kAceDirectoryInherit)});
  const Acl after = with_mode(before, 0604, true, false);
  EXPECT_EQ(mode_of(after, true), 0604u);
  const auto has = [&](const AclEntry& entry) { return std::ranges::count(after.entries, entry) == 1; };
  EXPECT_TRUE(has(named));
  EXPECT_TRUE(has(lost));
  EXPECT_TRUE(has(inherit_only));
  EXPECT_TRUE(
      has(allow(AclWho::group(), kRead | kRightExecute, kAceFileInherit | kAceDirectoryInherit | kAceInheritOnly)));
  EXPECT_EQ(allowed(after, kSomebody) & (kRead | kWrite), kRead | kWrite);  // by name
  EXPECT_EQ(allowed(after, kTheOwner) & kRightDelete, kRightDelete + 0u);
  EXPECT_EQ(allowed(after, kAMember) & (kRead | kRightExecute), 0u);
}

TEST(AclTest, ChmodWithAMaskKeepsNamedEntriesWithinTheGroup) {
  const Acl before = list({allow(AclWho::user(12), kRead | kWrite, kAceFileInherit), deny(AclWho::user(13), kRead)});
  const Acl after = with_mode(before, 0740, true, true);
  EXPECT_EQ(mode_of(after, true), 0740u);
  EXPECT_EQ(allowed(after, kSomebody) & (kRead | kWrite), kRead);
  EXPECT_EQ(
      std::ranges::count(after.entries, allow(AclWho::user(12), kRead | kWrite, kAceFileInherit | kAceInheritOnly)), 1);
  EXPECT_EQ(std::ranges::count(after.entries, deny(AclWho::user(13), kRead)), 1);
  EXPECT_EQ(allowed(with_mode(before, 0, true, true), kSomebody), 0u);  // 6.1: mode 000 denies everybody
}

TEST(AclTest, ChmodOfWhatIsInheritedAutomaticallyProtectsIt) {
  Acl acl = list({allow(AclWho::user(5), kRead)});
  acl.flags = kAclAutoInherit;
  EXPECT_EQ(with_mode(acl, 0600, false, false).flags, kAclAutoInherit | kAclProtected);
}

TEST(AclTest, ChmodDoesNotGiveUsersAndGroupsWhatEverybodyWasDenied) {
  const Acl before = list({deny(AclWho::everyone(), kWrite), allow(AclWho::user(12), kRead | kWrite)});
  for (const std::uint32_t mode : {0644u, 0664u}) {
    const Acl after = with_mode(before, mode, false, false);
    EXPECT_EQ(mode_of(after, false), mode);
    EXPECT_EQ(allowed(after, kSomebody) & (kRead | kWrite), kRead);
  }
  EXPECT_EQ(allowed(with_mode(before, 0666, false, false), kSomebody) & kWrite, kWrite) << "the mode says so";
  // A right allowed first stays.
  const Acl first =
      list({allow(AclWho::user(12), kWrite), deny(AclWho::everyone(), kWrite), allow(AclWho::group_of(5), kWrite)});
  EXPECT_EQ(allowed(with_mode(first, 0600, false, false), kSomebody) & kWrite, kWrite);
}

AclWho random_who(std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return AclWho::owner();
    case 1:
      return AclWho::group();
    case 2:
      return AclWho::user(random() % 3 + kOwnerId);
    case 3:
      return AclWho::group_of(kGroupId);
    case 4:
      return {AclWho::Kind::kUserText, 0, "S-1-5-" + std::to_string(random() % 10)};
    default:
      return AclWho::everyone();
  }
}
Acl random_acl(std::mt19937& random, bool directory) {
  Acl acl;
  for (std::size_t i = random() % 8; i > 0; --i) {
    AclEntry entry{.deny = random() % 3 == 0,
                   .rights = static_cast<std::uint32_t>(random()) & kAllRights,
                   .who = random_who(random)};
    if (directory) entry.flags = static_cast<std::uint8_t>(random() & kAceInheritance);
    acl.entries.push_back(std::move(entry));
  }
  return acl;
}

TEST(AclTest, AnyChmodOfAnyAclGivesTheModeAndDoesNotGrow) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    const bool directory = random() % 2 == 0, mask = random() % 2 == 0;
    Acl acl = random_acl(random, directory);
    const std::size_t size = acl.entries.size();
    for (int again = 0; again < 4; ++again) {
      const std::uint32_t mode = random() % 01000;
      const Acl before = acl;
      acl = with_mode(acl, mode, directory, mask);
      ASSERT_EQ(mode_of(acl, directory), mode);
      ASSERT_TRUE(check_acl(acl, directory));
      const Acl same = with_mode(acl, mode, directory, mask);
      ASSERT_EQ(same, acl);
      ASSERT_LE(acl.entries.size(),
                2 * size + 5);  // inherited entries apart from effective ones; the entries of the mode
      // A caller that matches only the three classes gets the rights of the mode.
      const Credentials stranger{.uid = 99, .gid = 99};
      ASSERT_EQ(allowed(acl, stranger) & rights_of_bits(7, directory), rights_of_bits(mode, directory));
      // And a named user gets no more.
      const Credentials named{.uid = kOwnerId + 1, .gid = 99};
      const std::uint32_t may = allowed(before, named) | rights_of_bits(mode, directory);
      ASSERT_EQ(allowed(acl, named) & rights_of_bits(7, directory) & ~may, 0u);
    }
  }
}

// RFC 8881 6.4.3.1
TEST(AclTest, InheritanceFollowsTheFlags) {
  const auto inherits = [](std::uint8_t flags, bool directory) {
    const Acl acl = inherited(list({allow(AclWho::user(5), kRead, flags)}), directory);
    return acl.entries.empty() ? -1 : static_cast<int>(acl.entries[0].flags);
  };
  constexpr std::uint8_t f = kAceFileInherit, d = kAceDirectoryInherit, n = kAceNoPropagate, i = kAceInheritOnly;
  EXPECT_EQ(inherits(0, false), -1);
  EXPECT_EQ(inherits(d, false), -1);
  EXPECT_EQ(inherits(f, false), kAceInherited);
  EXPECT_EQ(inherits(f | i, false), kAceInherited);
  EXPECT_EQ(inherits(f | d | n | i, false), kAceInherited);
  EXPECT_EQ(inherits(0, true), -1);
  EXPECT_EQ(inherits(d, true), d | kAceInherited);
  EXPECT_EQ(inherits(d | i, true), d | kAceInherited);
  EXPECT_EQ(inherits(f, true), f | i | kAceInherited);  // for files only: not for the directory itself
  EXPECT_EQ(inherits(f | n, true), -1);
  EXPECT_EQ(inherits(d | n | i, true), kAceInherited);
  EXPECT_EQ(inherits(f | d | n, true), kAceInherited);
  EXPECT_EQ(inherits(f | d, true), f | d | kAceInherited);
}

TEST(AclTest, ClassesThatNothingInheritedSpeaksOfKeepTheirBits) {
  EXPECT_EQ(mode_with_inherited(list({allow(AclWho::user(5), kRead)}), 0666, 0644, false), 0644u);
  EXPECT_EQ(mode_with_inherited(list({allow(AclWho::group(), kRead | kWrite)}), 0666, 0600, false), 0660u);
  EXPECT_EQ(mode_with_inherited(list({allow(AclWho::everyone(), kRead | kWrite | kRightExecute)}), 0666, 0600, false),
            0666u);
  EXPECT_EQ(mode_with_inherited(list({deny(AclWho::everyone(), kRead)}), 0666, 0644, false), 0u);
}

TEST(AclTest, WhatNoAclMayHaveIsRefused) {
  const auto code = [](const Acl& acl, bool directory = true) {
    const Status checked = check_acl(acl, directory);
    return checked ? Errc{} : checked.error().code;
  };
  EXPECT_EQ(code(list({allow(AclWho::user(5), kAllRights, 0x8f)})), Errc{});
  EXPECT_EQ(code(list({allow(AclWho::user(5), 0x800)})), Errc::kInvalid);
  EXPECT_EQ(code(list({allow(AclWho::user(5), kRead, 0x10)})), Errc::kInvalid);
  EXPECT_EQ(code(list({allow(AclWho::user(5), kRead, kAceFileInherit)}), false), Errc::kInvalid);
  EXPECT_EQ(code(list({allow({AclWho::Kind::kUserText}, kRead)})), Errc::kInvalid);
  EXPECT_EQ(code(list({allow({AclWho::Kind::kUserText, 0, "a:b@c"}, kRead)})), Errc::kInvalid);
  EXPECT_EQ(code(list({allow({AclWho::Kind::kUserText, 0, "1000"}, kRead)})), Errc::kInvalid);
  EXPECT_EQ(code(list({allow({AclWho::Kind::kUserText, 0, "ann@" + std::string(252, 'x')}, kRead)})), Errc::kInvalid);
  EXPECT_EQ(code(Acl{.flags = 8}), Errc::kInvalid);
  EXPECT_EQ(code(list(std::vector(kAclEntriesMax, allow(AclWho::owner(), kRead)))), Errc{});
  EXPECT_EQ(code(list(std::vector(kAclEntriesMax + 1, allow(AclWho::owner(), kRead)))), Errc::kTooLarge);
  const AclEntry wide = allow({AclWho::Kind::kUserText, 0, "ann@" + std::string(251, 'x')}, kRead);
  EXPECT_EQ(code(list(std::vector(300, wide))), Errc::kTooLarge);
}

TEST(AclRecordTest, WhatWasWrittenComesBack) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Acl acl = random_acl(random, true);
    acl.flags = random() & kAclFlagsKnown;
    acl.chmod = static_cast<ChmodPolicy>(random() % 4);
    const auto back = decode_acl(encode_acl(acl));
    ASSERT_TRUE(back);
    ASSERT_EQ(*back, acl);
  }
}

TEST(AclRecordTest, BytesOfVersionOneStayReadable) {
  Acl acl = list({allow(AclWho::owner(), 0x1f01ff), deny(AclWho::user(1000), kRead, kAceInherited),
                  allow({AclWho::Kind::kGroupText, 0, "S-1-5-32"}, kRead, kAceFileInherit)});
  acl.flags = kAclProtected;
  acl.chmod = ChmodPolicy::kReplace;
  std::string hex;
  for (const char c : encode_acl(acl)) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    hex += two;
  }
  EXPECT_EQ(hex,
            "0101"
            "19000000"
            "020203"
            "0000ff837c"
            "838001e807"
            "0601"
            "01"
            "08532d312d352d3332");
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  EXPECT_EQ(*decode_acl(bytes), acl);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decode_acl(std::string_view(bytes).substr(0, size)).error().code, Errc::kCorrupt) << size;
  }
}

}  // namespace
}  // namespace stoa::core
