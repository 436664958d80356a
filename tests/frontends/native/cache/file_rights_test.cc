#include "frontends/native/cache/file_rights.h"

#include <gtest/gtest.h>

namespace stoa::native {
namespace {

TEST(FileRights, AreThoseOfEachUser) {
  FileRights rights;
  EXPECT_FALSE(rights.find(0));
  EXPECT_FALSE(rights.find(1));
  rights.keep(1, 7, 5);
  EXPECT_EQ(rights.find(1)->known, 7u);
  EXPECT_EQ(rights.find(1)->granted, 5u);
  EXPECT_FALSE(rights.find(0));
  EXPECT_EQ(rights.bytes_beside(), 0);
  rights.keep(0, 2, 0);
  rights.keep(2, 2, 2);
  EXPECT_EQ(rights.find(0)->granted, 0u);
  EXPECT_EQ(rights.find(2)->granted, 2u);
  EXPECT_GT(rights.bytes_beside(), 0);
  // What is learnt anew replaces, of the bits that were asked for.
  rights.keep(1, 12, 8);
  EXPECT_EQ(rights.find(1)->known, 15u);
  EXPECT_EQ(rights.find(1)->granted, 9u);
  rights.clear();
  for (std::uint32_t user = 0; user < 3; ++user) EXPECT_FALSE(rights.find(user));
  EXPECT_EQ(rights.bytes_beside(), 0);
}

TEST(FileRights, AreBounded) {
  FileRights rights;
  for (std::uint32_t user = 1; user <= 1000; ++user) {
    rights.keep(user, 1, user & 1);
    ASSERT_EQ(rights.find(user)->granted, user & 1);
    ASSERT_LE(rights.bytes_beside(), 2048);
  }
}

}  // namespace
}  // namespace stoa::native
