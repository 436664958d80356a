#include "core/api/acl_text.h"

#include <gtest/gtest.h>

#include <random>

namespace stoa::core {
namespace {

std::optional<std::uint32_t> find(std::string_view name, bool group) {
  if (name == "ann" && !group) return 1815;
  if (name == "staff" && group) return 50;
  return std::nullopt;
}
std::string why(std::string_view text) {
  const auto parsed = parse_acl(text, find);
  return parsed ? "" : describe(parsed.error());
}

TEST(AclTextTest, TheNotationIsThatOfNfs4Getfacl) {
  const auto parsed = parse_acl(
      "# a comment\n"
      "A::OWNER@:rwatTnNcCoy\r\n"
      "\n"
      "D:fdI:1000:wa\n"
      "A:g:100:r\n"
      "A:g:staff:r\n"
      "A::ann:x\n"
      "A:ni:bob@example.org:Dd\n"
      "A:g:S-1-5-32-544:\n"
      "A::EVERYONE@:rtncyeE",
      find);
  ASSERT_TRUE(parsed) << describe(parsed.error());
  const auto& entries = parsed->acl.entries;
  ASSERT_EQ(entries.size(), 8u);
  EXPECT_EQ(entries[0].who, AclWho::owner());
  EXPECT_EQ(entries[0].rights, 0x1e019fu);
  EXPECT_EQ(entries[1], (AclEntry{true, kAceFileInherit | kAceDirectoryInherit | kAceInherited,
                                  kRightWriteData | kRightAppendData, AclWho::user(1000)}));
  EXPECT_EQ(entries[2].who, AclWho::group_of(100));
  EXPECT_EQ(entries[3].who, AclWho::group_of(50));
  EXPECT_EQ(entries[4].who, AclWho::user(1815));
  EXPECT_EQ(entries[5], (AclEntry{false,
                                  kAceNoPropagate | kAceInheritOnly,
                                  kRightDeleteChild | kRightDelete,
                                  {AclWho::Kind::kUserText, 0, "bob@example.org"}}));
  EXPECT_EQ(entries[6], (AclEntry{.who = {AclWho::Kind::kGroupText, 0, "S-1-5-32-544"}}));
  EXPECT_EQ(entries[7].rights & (kRightWriteRetention | kRightWriteRetentionHold), 0x600u);
}

TEST(AclTextTest, ErrorsNameTheLineAndTheCause) {
  EXPECT_EQ(why("A::OWNER@:r\nA::bob:r"), "invalid: acl_who [2, bob, user]");
  EXPECT_EQ(why("\n\nX::OWNER@:r"), "invalid: acl_type [3, X]");
  EXPECT_EQ(why("U::OWNER@:r"), "invalid: acl_type [1, U]");  // AUDIT
  EXPECT_EQ(why("A:z:OWNER@:r"), "invalid: acl_entry_flag [1, z]");
  EXPECT_EQ(why("A::OWNER@:rq"), "invalid: acl_right [1, q]");
  EXPECT_EQ(why("A::OWNER@"), "invalid: acl_line_form [1, A::OWNER@]");
  EXPECT_EQ(why("A::a:b@c:r"), "invalid: acl_line_form [1, A::a:b@c:r]");
  EXPECT_EQ(why("chmod:maybe"), "invalid: acl_policy [1, maybe]");
  EXPECT_EQ(why("chmod:keep\nchmod:keep"), "invalid: acl_line_twice [2, chmod:]");
  EXPECT_EQ(why("flags:x"), "invalid: acl_list_flag [1, x]");
  EXPECT_NE(why("A::INTERACTIVE@:r"), "");
  EXPECT_NE(why("A::4294967296:r"), "");
  EXPECT_NE(why("A::\xff@example.org:r"), "");
  std::string many;
  for (std::size_t i = 0; i <= kAclEntriesMax; ++i) many += "A::1:r\n";
  EXPECT_EQ(why(many), "invalid: acl_entries [1025, 1024]");
}

TEST(AclTextTest, WhatIsPrintedParsesToTheSame) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    Acl acl;
    acl.flags = random() & kAclFlagsKnown;
    acl.chmod = static_cast<ChmodPolicy>(random() % 4);
    for (std::size_t i = random() % 6; i > 0; --i) {
      AclWho who;
      who.kind = static_cast<AclWho::Kind>(random() % 7);
      if (who.has_text()) {
        who.text = random() % 2 == 0 ? "S-1-5-21-" + std::to_string(random()) : "Domain Users@corp";
      } else if (!who.is_class()) {
        who.id = static_cast<std::uint32_t>(random());
      }
      acl.entries.push_back({.deny = random() % 2 == 0,
                             .flags = static_cast<std::uint8_t>(random() & kAceFlagsKnown),
                             .rights = static_cast<std::uint32_t>(random()) & kAllRights,
                             .who = std::move(who)});
    }
    const auto back = parse_acl(print_acl(acl), find);
    ASSERT_TRUE(back) << back.error().detail;
    ASSERT_EQ(back->acl, acl) << print_acl(acl);
  }
}

}  // namespace
}  // namespace stoa::core
