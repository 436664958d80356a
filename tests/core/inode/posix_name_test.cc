#include <gtest/gtest.h>

#include <set>

#include "core/inode/posix_name.h"

namespace stoa::core {
namespace {

TEST(PosixNameTest, EveryComponentHasOneAliasThatLeadsBack) {
  const std::string nul("a\0b", 3);
  std::string long_nul(200, 'x');
  long_nul.append(nul);
  std::set<std::string> seen;
  std::vector<std::string> components;
  for (const char* plain : {"plain", "", ".", "..", "%S3-", "%S3-DOT", "%S3-LITERAL-x", "%S3-LONG-0123456789abcdef-x",
                            "x%S3-OBJECT", "x%S3-OBJECT%S3-OBJECT", "%S3-OBJECT"}) {
    components.emplace_back(plain);
  }
  for (const std::size_t size : {250, 255, 256, 1024}) components.emplace_back(size, 'n');
  components.push_back(nul);
  components.push_back(long_nul);
  components.emplace_back(251, 'l').insert(0, "%S3-");
  components.emplace_back(245, 'o').append("%S3-OBJECT");
  for (const std::string& raw : components) {
    for (const bool hidden_by_directory : {false, true}) {
      const std::string alias = posix_name_of(raw, hidden_by_directory);
      SCOPED_TRACE(alias);
      EXPECT_LE(alias.size(), 255u);
      EXPECT_TRUE(seen.insert(alias).second) << "two components share it";
      const auto parsed = parse_posix_name(alias);
      ASSERT_TRUE(parsed);
      EXPECT_EQ(parsed->file_beside_directory, hidden_by_directory);
      if (parsed->long_prefix) {
        EXPECT_TRUE(raw.starts_with(*parsed->long_prefix));
        EXPECT_TRUE(matches_long_alias(raw, hidden_by_directory, *parsed));
        EXPECT_FALSE(matches_long_alias(raw + "x", hidden_by_directory, *parsed));
      } else {
        EXPECT_EQ(parsed->raw, raw);
      }
    }
  }
}

TEST(PosixNameTest, WhatIsNeverGivenOutIsRefused) {
  for (const char* name : {"", ".", "..", "a/b", "%S3-", "%S3-UNKNOWN", "%S3-HEX-", "%S3-HEX-0", "%S3-HEX-zz",
                           "%S3-HEX-61" /* is "a", which is plain */, "%S3-LITERAL-plain", "%S3-LONG-", "%S3-LONG-12-x",
                           "%S3-DOT%S3-OBJECT"}) {
    EXPECT_EQ(parse_posix_name(name).error().code, Errc::kInvalid) << name;
  }
  EXPECT_EQ(parse_posix_name(std::string(256, 'x')).error().code, Errc::kNameTooLong);
  EXPECT_EQ(parse_posix_name(std::string_view("a\0b", 3)).error().code, Errc::kInvalid);
}

}  // namespace
}  // namespace stoa::core
