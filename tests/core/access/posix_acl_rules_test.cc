// POSIX ACLs of files in a volume: the mask by chmod of every protocol, and default ACLs of new files.
#include "core/access/acl.h"
#include "core/api/posix_acl.h"
#include "tests/core/namespace/user.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

constexpr PosixAclEntry kNamed{7, 6};

template <class Engine>
class PosixAclVolumeTest : public VolumeTest<Engine> {
 protected:
  PosixAclVolumeTest() { dir_ = *this->mkdir(kRootId, "dir"); }

  Status set(FileId id, Acl acl) {
    STOA_CHECK_OK(this->ns().setattr({}, {.id = id, .set = {.acl = std::make_shared<const Acl>(std::move(acl))}}));
    return {};
  }
  Status chmod(FileId id, std::uint32_t mode) {
    STOA_CHECK_OK(this->ns().setattr({}, {.id = id, .set = {.mode = mode}}));
    return {};
  }
  GetAclReply acl(FileId id) { return *this->ns().get_acl({}, {id}); }
  std::uint32_t mode(FileId id) { return this->ns().getattr({}, {id})->attr.mode; }
  FileId make(std::string_view name, const SetAttributes& what) {
    const auto made = this->ns().create({}, {.parent = dir_, .name = name, .set = what});
    EXPECT_TRUE(made) << describe(made.error());
    return made ? made->attr.id : kNoFile;
  }
  bool reads(FileId id, const OpContext& ctx) {
    std::byte one[1];
    return this->ns().read(ctx, {id, 0, one}).has_value();
  }

  FileId dir_;
};
TYPED_TEST_SUITE(PosixAclVolumeTest, Engines);

TYPED_TEST(PosixAclVolumeTest, TheMaskIsTheGroupOfTheMode) {
  const FileId f = this->make("f", {.mode = 04640});
  const PosixAcl posix{.owner = 6, .group = 4, .other = 0, .mask = 6, .users = {kNamed}};
  ASSERT_TRUE(this->set(f, with_access(*this->acl(f).acl, posix, false)));
  EXPECT_EQ(this->mode(f), 04660u);
  EXPECT_TRUE(this->reads(f, user(7)));
  EXPECT_FALSE(this->reads(f, user(8)));
  ASSERT_TRUE(this->chmod(f, 0600));
  EXPECT_FALSE(this->reads(f, user(7)));
  this->reopen();
  EXPECT_EQ(this->mode(f), 0600u);
  PosixAcl expected = posix;
  expected.mask = 0;
  EXPECT_EQ(access_view(*this->acl(f).acl, false), expected);
  ASSERT_TRUE(this->chmod(f, 0640));
  EXPECT_TRUE(this->reads(f, user(7)));
  this->expect_consistent();  // the verifier knows the mode of the form
}

TYPED_TEST(PosixAclVolumeTest, AMaskAloneIsKept) {
  const FileId f = this->make("f", {.mode = 0640});
  ASSERT_TRUE(this->set(f, with_access({}, {.owner = 6, .group = 6, .other = 0, .mask = 4}, false)));
  EXPECT_TRUE(this->acl(f).stored);
  EXPECT_EQ(this->mode(f), 0640u);
  ASSERT_TRUE(this->set(f, with_access({}, {.owner = 6, .group = 4, .other = 0}, false)));
  EXPECT_FALSE(this->acl(f).stored) << "a mode says it";
  this->expect_consistent();
}

// acl(5): what a create asks for is limited by the default ACL, whichever protocol it comes by.
TYPED_TEST(PosixAclVolumeTest, ADefaultAclIsTheMostThatAModeGives) {
  for (const bool masked : {true, false}) {
    PosixAcl below{.owner = 7, .group = 5, .other = 0};
    if (masked) below = {.owner = 7, .group = 5, .other = 0, .mask = 5, .users = {kNamed}};
    ASSERT_TRUE(this->set(this->dir_, with_default(*this->acl(this->dir_).acl, below)));
    const std::string name = masked ? "masked" : "plain";
    const FileId by_nfs3 = this->make(name + "3", {.mode = 0666});
    EXPECT_EQ(this->mode(by_nfs3), 0640u);
    EXPECT_EQ(access_view(*this->acl(by_nfs3).acl, false), with_mode(below, 0640));
    EXPECT_EQ(this->mode(this->make(name + "4", {.mode = 0666, .umask = 077})), 0640u) << "the umask does not count";
    EXPECT_EQ(this->mode(this->make(name + "owner", {.mode = 0600, .umask = 0})), 0600u);
    EXPECT_EQ(this->put(this->dir_, name + "s3", "text")->attr.mode, 0750u) << "no mode, all that is inherited";
    const auto exclusive = this->ns().create(
        {}, {.parent = this->dir_, .name = name + "x", .mode = CreateMode::kExclusive, .verifier = 5});
    ASSERT_TRUE(this->chmod(exclusive->attr.id, 0666));
    EXPECT_EQ(this->mode(exclusive->attr.id), 0640u);
    const auto sub = this->ns().mkdir({}, {this->dir_, name, {.mode = 0777}});
    EXPECT_EQ(this->mode(sub->attr.id), 0750u);
    EXPECT_EQ(default_view(*this->acl(sub->attr.id).acl), below);
    const auto deeper = this->ns().create({}, {.parent = sub->attr.id, .name = "f", .set = {.mode = 0666}});
    EXPECT_EQ(access_view(*this->acl(deeper->attr.id).acl, false), with_mode(below, 0640));
  }
  this->expect_consistent();
}

// The policy of the directory comes first where it says more.
TYPED_TEST(PosixAclVolumeTest, PoliciesOfChmodHold) {
  const FileId f = this->make("f", {.mode = 0640});
  const auto policy = [&](ChmodPolicy to) {
    ASSERT_TRUE(this->ns().setattr({}, {.id = this->dir_, .set = {.chmod_policy = to}}));
  };
  ASSERT_TRUE(this->set(f, with_access({}, {.owner = 6, .mask = 6, .users = {kNamed}}, false)));
  policy(ChmodPolicy::kRefuse);
  EXPECT_EQ(this->chmod(f, 0600).error().code, Errc::kNotOwner);
  policy(ChmodPolicy::kReplace);
  ASSERT_TRUE(this->chmod(f, 0660));
  EXPECT_FALSE(this->acl(f).stored);
  EXPECT_FALSE(this->reads(f, user(7)));
}

}  // namespace
}  // namespace stoa::core::test
