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

constexpr std::uint32_t kBits = kRightReadData | kRightWriteData | kRightExecute;
std::uint32_t bits(const OpContext& ctx, const Inode& inode) {
  return rights(ctx.cred, inode) & kBits;
}

TEST(AccessTest, TheFirstMatchingClassDecidesAlone) {
  // POSIX.1-2017 4.5: the owner gets the owner's bits even where the group's would allow more.
  EXPECT_EQ(bits(as(10, 20), file(0077)), 0u);
  EXPECT_EQ(bits(as(11, 20), file(0707)), 0u);
  EXPECT_EQ(bits(as(11, 1, {20}), file(0050)), kRightReadData | kRightExecute);
  EXPECT_EQ(bits(as(11, 1), file(0004)), kRightReadData + 0u);
}

TEST(AccessTest, ModeBitsStandForRights) {
  EXPECT_EQ(rights(as(11, 1).cred, file(0004)),
            kRightReadData | kRightReadXattrs | kRightReadAttributes | kRightReadAcl | kRightSynchronize);
  const std::uint32_t of_everybody = kRightReadAttributes | kRightReadAcl | kRightSynchronize;
  EXPECT_EQ(rights(as(11, 1).cred, file(0002)), kRightWriteData | kRightAppendData | kRightWriteXattrs | of_everybody);
  EXPECT_EQ(rights(as(11, 1).cred, file(0002, FileType::kDirectory)),
            kRightAddFile | kRightAddSubdirectory | kRightDeleteChild | kRightWriteXattrs | of_everybody);
  EXPECT_EQ(rights(as(10, 1).cred, file(0)), kRightWriteAttributes | kRightWriteAcl | of_everybody);
}

TEST(AccessTest, TheSuperuserExecutesOnlyWhatSomebodyMay) {
  const OpContext root = as(0, 0);
  EXPECT_EQ(bits(root, file(0)), kRightReadData | kRightWriteData);
  EXPECT_EQ(bits(root, file(0001)), kBits);
  EXPECT_EQ(bits(root, file(0, FileType::kDirectory)), kBits);
  Inode by_acl = file(0);
  by_acl.set_acl(std::make_shared<const Acl>(Acl{.entries = {{.rights = kRightExecute, .who = AclWho::user(7)}}}));
  EXPECT_EQ(bits(root, by_acl), kBits);
}

TEST(AccessTest, ProtocolsWithoutOpensLetTheOwnerDoIo) {
  EXPECT_TRUE(require_write(as(10, 1), file(0), 0));
  EXPECT_EQ(require_read(as(11, 1), file(0700)).error().code, Errc::kAccess);
  EXPECT_TRUE(require_read(as(11, 1), file(0001)));  // execute permission allows reading
  EXPECT_FALSE(require_write(as(11, 1), file(0001), 0));
}

TEST(AccessTest, WhoMayOnlyAppendWritesOnlyAtTheEnd) {
  Inode log = file(0);
  log.size = 100;
  log.set_acl(std::make_shared<const Acl>(Acl{.entries = {{.rights = kRightAppendData, .who = AclWho::everyone()}}}));
  for (const std::uint32_t uid : {10u, 11u}) {
    EXPECT_EQ(require_write(as(uid, 1), log, 99).error().code, Errc::kAccess);
    EXPECT_TRUE(require_write(as(uid, 1), log, 100));
  }
  EXPECT_TRUE(require_write(as(0, 0), log, 0));
  EXPECT_EQ(access_bits(as(11, 1), log), kAccessExtend + 0u);
}

TEST(AccessTest, StickyDirectoriesProtectNames) {
  Inode dir = file(01777, FileType::kDirectory);
  Inode victim = file(0644);
  victim.uid = 30;
  EXPECT_TRUE(require_remove(as(30, 1), dir, victim));
  EXPECT_TRUE(require_remove(as(10, 1), dir, victim));
  EXPECT_EQ(require_remove(as(31, 1), dir, victim).error().code, Errc::kNotOwner);
  dir.mode = 0777;
  EXPECT_TRUE(require_remove(as(31, 1), dir, victim));
  dir.mode = 0755;
  EXPECT_EQ(require_remove(as(30, 1), dir, victim).error().code, Errc::kAccess);
}

// RFC 8881 6.2.1.3.2
TEST(AccessTest, EitherDeleteOrDeleteChildIsEnough) {
  const auto with = [](Inode inode, std::vector<AclEntry> entries) {
    inode.set_acl(std::make_shared<const Acl>(Acl{.entries = std::move(entries)}));
    return inode;
  };
  const auto entry = [](bool deny, std::uint32_t rights) {
    return AclEntry{.deny = deny, .rights = rights, .who = AclWho::user(31)};
  };
  const OpContext caller = as(31, 1);
  const Inode plain_dir = file(0755, FileType::kDirectory), sticky = file(01777, FileType::kDirectory),
              plain = file(0644);
  const Inode allows = with(plain, {entry(false, kRightDelete)}), denies = with(plain, {entry(true, kRightDelete)});
  const Inode silent = with(plain, {});
  const Inode dir_allows = with(plain_dir, {entry(false, kRightDeleteChild)});
  const Inode dir_denies = with(plain_dir, {entry(true, kRightDeleteChild), entry(false, kRightAddFile)});
  const Inode dir_adds = with(plain_dir, {entry(false, kRightAddFile)});
  EXPECT_TRUE(require_remove(caller, plain_dir, allows));
  EXPECT_TRUE(require_remove(caller, dir_denies, allows));
  EXPECT_TRUE(require_remove(caller, sticky, allows));
  EXPECT_TRUE(require_remove(caller, dir_allows, denies));
  EXPECT_FALSE(require_remove(caller, dir_denies, silent));
  EXPECT_FALSE(require_remove(caller, dir_denies, plain));
  // If neither is mentioned, the right to add allows removal.
  EXPECT_TRUE(require_remove(caller, dir_adds, silent));
  EXPECT_FALSE(require_remove(caller, dir_adds, denies));
  EXPECT_FALSE(require_remove(caller, with(plain_dir, {}), silent));
}

TEST(AccessTest, ChownIsRestricted) {
  Inode inode = file(0777);
  EXPECT_TRUE(require_chown(as(0, 0), inode, 99, 99));
  EXPECT_TRUE(require_chown(as(10, 1, {33}), inode, 10, 33));
  EXPECT_EQ(require_chown(as(10, 1), inode, 11, {}).error().code, Errc::kNotOwner);
  EXPECT_EQ(require_chown(as(10, 1), inode, {}, 33).error().code, Errc::kNotOwner);
  EXPECT_EQ(require_chown(as(11, 33), inode, {}, 33).error().code, Errc::kNotOwner);
  // WRITE_OWNER: to take it, not to give it away.
  inode.set_acl(std::make_shared<const Acl>(Acl{.entries = {{.rights = kRightWriteOwner, .who = AclWho::user(11)}}}));
  EXPECT_TRUE(require_chown(as(11, 33), inode, 11, 33));
  EXPECT_EQ(require_chown(as(11, 33), inode, 12, {}).error().code, Errc::kNotOwner);
  EXPECT_EQ(require_chown(as(11, 33), inode, {}, 34).error().code, Errc::kNotOwner);
}

TEST(AccessTest, WithoutItsAclNobodyGetsIn) {
  Inode inode = file(0777);
  inode.flags = kHasAcl;
  EXPECT_EQ(bits(as(11, 20), inode), 0u);
  EXPECT_EQ(bits(as(10, 20), inode), 0u);
}

TEST(AccessTest, AccessBitsTellReadOnlyExports) {
  OpContext ctx = as(10, 1);
  const Inode dir = file(0700, FileType::kDirectory);
  EXPECT_EQ(access_bits(ctx, dir), kAccessRead | kAccessLookup | kAccessModify | kAccessExtend | kAccessDelete |
                                       kAccessReadXattrs | kAccessWriteXattrs | kAccessListXattrs);
  ctx.read_only = true;
  EXPECT_EQ(access_bits(ctx, dir), kAccessRead | kAccessLookup | kAccessReadXattrs | kAccessListXattrs);
  EXPECT_EQ(access_bits(as(10, 1), file(0500)), kAccessRead | kAccessExecute | kAccessReadXattrs | kAccessListXattrs);
}

}  // namespace
}  // namespace stoa::core
