#include <gtest/gtest.h>

#include "core/access/access.h"

namespace stoa::core {
namespace {

Inode file(std::uint32_t mode, FileType type = FileType::kRegular) {
  Inode inode;
  inode.type = type;
  inode.mode = mode;
  inode.uid = 10;
  inode.gid = 20;
  return inode;
}
OpContext as(std::uint32_t uid, std::uint32_t gid, std::vector<std::uint32_t> groups = {}) {
  return {.cred = {.uid = uid, .gid = gid, .groups = std::move(groups)}};
}

TEST(AccessTest, TheFirstMatchingClassDecidesAlone) {
  // POSIX.1-2017 4.5: the owner gets the owner's bits even where the group's would allow more.
  EXPECT_EQ(permissions(as(10, 20).cred, file(0077)), 0u);
  EXPECT_EQ(permissions(as(11, 20).cred, file(0707)), 0u);
  EXPECT_EQ(permissions(as(11, 1, {20}).cred, file(0050)), kMayRead | kMayExecute);
  EXPECT_EQ(permissions(as(11, 1).cred, file(0004)), kMayRead + 0u);
}

TEST(AccessTest, TheSuperuserExecutesOnlyWhatSomebodyMay) {
  EXPECT_EQ(permissions(Credentials::superuser(), file(0)), kMayRead | kMayWrite);
  EXPECT_EQ(permissions(Credentials::superuser(), file(0001)), kMayRead | kMayWrite | kMayExecute);
  EXPECT_EQ(permissions(Credentials::superuser(), file(0, FileType::kDirectory)), kMayRead | kMayWrite | kMayExecute);
}

TEST(AccessTest, DoorsWithoutOpensLetTheOwnerDoIo) {
  EXPECT_TRUE(require_io(as(10, 1), file(0), kMayWrite));
  EXPECT_EQ(require_io(as(11, 1), file(0700), kMayRead).error().code, Errc::kAccess);
  EXPECT_TRUE(require_io(as(11, 1), file(0001), kMayRead));  // who may execute may read
  EXPECT_FALSE(require_io(as(11, 1), file(0001), kMayWrite));
}

TEST(AccessTest, StickyDirectoriesProtectNames) {
  Inode dir = file(01777, FileType::kDirectory);
  Inode victim = file(0644);
  victim.uid = 30;
  EXPECT_TRUE(require_sticky(as(30, 1), dir, victim));
  EXPECT_TRUE(require_sticky(as(10, 1), dir, victim));
  EXPECT_EQ(require_sticky(as(31, 1), dir, victim).error().code, Errc::kNotOwner);
  dir.mode = 0777;
  EXPECT_TRUE(require_sticky(as(31, 1), dir, victim));
}

TEST(AccessTest, AccessBitsTellReadOnlyExports) {
  OpContext ctx = as(10, 1);
  const Inode dir = file(0700, FileType::kDirectory);
  EXPECT_EQ(access_bits(ctx, dir), kAccessRead | kAccessLookup | kAccessModify | kAccessExtend | kAccessDelete);
  ctx.read_only = true;
  EXPECT_EQ(access_bits(ctx, dir), kAccessRead | kAccessLookup);
  EXPECT_EQ(access_bits(as(10, 1), file(0500)), kAccessRead | kAccessExecute);
}

}  // namespace
}  // namespace stoa::core
