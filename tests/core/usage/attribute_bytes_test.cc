// Targets of symbolic links, extended attributes and ACLs count as bytes of their files.
#include "core/access/acl.h"
#include "core/inode/inode_usage.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class AttributeBytesTest : public VolumeTest<Engine> {
 protected:
  std::int64_t bytes(FileId dir) { return static_cast<std::int64_t>(this->usage(dir).bytes); }
  Status set_xattr(FileId id, std::string_view name, std::string_view value) {
    STOA_CHECK_OK(this->ns().set_xattr(this->root_, {.id = id, .name = name, .value = value}));
    return {};
  }
  Status quota(FileId dir, std::uint64_t bytes) {
    return this->ns().set_quota(this->root_, {.dir = dir, .limits = {.bytes = bytes}});
  }
};
TYPED_TEST_SUITE(AttributeBytesTest, Engines);

TYPED_TEST(AttributeBytesTest, ASymbolicLinkCountsItsTarget) {
  const FileId dir = *this->mkdir(kRootId, "d");
  ASSERT_TRUE(this->quota(dir, 1000));
  ASSERT_TRUE(this->ns().symlink(this->root_, {.parent = dir, .name = "s", .target = std::string(600, 't')}));
  EXPECT_EQ(this->bytes(dir), 600);
  EXPECT_EQ(this->ns().symlink(this->root_, {.parent = dir, .name = "u", .target = std::string(401, 't')}).error().code,
            Errc::kQuota);
  ASSERT_TRUE(this->ns().symlink(this->root_, {.parent = dir, .name = "u", .target = std::string(400, 't')}));
  ASSERT_TRUE(this->ns().unlink(this->root_, {.parent = dir, .name = "s"}));
  EXPECT_EQ(this->bytes(dir), 400);
  this->expect_consistent();
}

TYPED_TEST(AttributeBytesTest, AnExtendedAttributeCountsItsNameAndItsValue) {
  const FileId dir = *this->mkdir(kRootId, "d"), sub = *this->mkdir(dir, "sub"), file = *this->create(dir, "f");
  ASSERT_TRUE(this->quota(dir, 1000));
  ASSERT_TRUE(this->set_xattr(file, "name", std::string(496, 'v')));
  EXPECT_EQ(this->bytes(dir), 500);
  ASSERT_TRUE(this->set_xattr(sub, "name", std::string(496, 'v')));
  EXPECT_EQ(this->bytes(dir), 1000);
  EXPECT_EQ(this->bytes(sub), 0);  // it counts where the directory does
  EXPECT_EQ(this->set_xattr(file, "n", "").error().code, Errc::kQuota);
  EXPECT_EQ(this->set_xattr(file, "name", std::string(497, 'v')).error().code, Errc::kQuota);
  ASSERT_TRUE(this->set_xattr(file, "name", "v"));
  EXPECT_EQ(this->bytes(dir), 505);
  ASSERT_TRUE(this->ns().remove_xattr(this->root_, {.id = file, .name = "name"}));
  EXPECT_EQ(this->bytes(dir), 500);
  const FileId other = *this->mkdir(kRootId, "other");
  ASSERT_TRUE(
      this->ns().rename(this->root_, {.from_parent = dir, .from_name = "sub", .to_parent = other, .to_name = "sub"}));
  EXPECT_EQ(this->bytes(dir), 0);
  EXPECT_EQ(this->bytes(other), 500);
  this->expect_consistent();
  ASSERT_TRUE(this->ns().rmdir(this->root_, {.parent = other, .name = "sub"}));
  EXPECT_EQ(this->bytes(other), 0);
  this->expect_consistent();
}

TYPED_TEST(AttributeBytesTest, AnAclCountsAndWhatAKeyProtocolKeepsDoes) {
  const FileId dir = *this->mkdir(kRootId, "d"), file = *this->create(dir, "f");
  const auto acl = std::make_shared<Acl>(acl_of_mode(0640, false));
  acl->entries.insert(acl->entries.begin(), {.rights = kRightReadData, .who = AclWho::user(77)});
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = file, .set = {.acl = acl}}));
  EXPECT_GT(this->bytes(dir), 0);
  this->expect_consistent();
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = file, .set = {.uid = 5}}));
  ASSERT_TRUE(this->ns().unlink(this->root_, {.parent = dir, .name = "f"}));
  EXPECT_EQ(this->bytes(dir), 0);
  const std::string text(100, 'x');
  ASSERT_TRUE(this->ns().put_key(
      this->root_, {.root = dir, .key = "o", .bytes = std::as_bytes(std::span(text)), .meta = std::string(1000, 'm')}));
  EXPECT_EQ(this->bytes(dir),
            100 + 8 + 1000 - static_cast<std::int64_t>(kObjectMetaFree));  // 8: the version that it describes
  for (const std::size_t free : {kObjectMetaFree - 8, std::size_t{1}}) {
    ASSERT_TRUE(this->ns().put_key(
        this->root_,
        {.root = dir, .key = "o", .bytes = std::as_bytes(std::span(text)), .meta = std::string(free, 'm')}));
    EXPECT_EQ(this->bytes(dir), 100) << "as the file that NFS makes";
  }
  ASSERT_TRUE(this->ns().put_key(this->root_, {.root = dir, .key = "o", .bytes = std::as_bytes(std::span(text))}));
  EXPECT_EQ(this->bytes(dir), 100);
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
