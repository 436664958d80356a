// ACLs of files in a volume: set, inherited, changed by chmod, deciding for every operation, kept across a restart.
#include "core/access/acl.h"

#include <algorithm>

#include "core/inode/inode.h"
#include "core/kv/keys.h"
#include "tests/core/namespace/user.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

AclEntry allow(AclWho who, std::uint32_t rights, std::uint8_t flags = 0) {
  return {.flags = flags, .rights = rights, .who = std::move(who)};
}
AclEntry deny(AclWho who, std::uint32_t rights, std::uint8_t flags = 0) {
  return {.deny = true, .flags = flags, .rights = rights, .who = std::move(who)};
}
AclRef list(std::vector<AclEntry> entries) {
  return std::make_shared<const Acl>(Acl{.entries = std::move(entries)});
}

constexpr std::uint32_t kRead = kRightReadData, kWrite = kRightWriteData | kRightAppendData, kAll = kAllRights;
constexpr std::uint8_t kF = kAceFileInherit, kD = kAceDirectoryInherit;

template <class Engine>
class AclVolumeTest : public VolumeTest<Engine> {
 protected:
  AclVolumeTest() { dir_ = *this->mkdir(kRootId, "dir"); }

  Status set_acl(FileId id, std::vector<AclEntry> entries, const OpContext& ctx = {}) {
    STOA_CHECK_OK(this->ns().setattr(ctx, {.id = id, .set = {.acl = list(std::move(entries))}}));
    return {};
  }
  Status set(FileId id, const SetAttributes& what, const OpContext& ctx = {}) {
    STOA_CHECK_OK(this->ns().setattr(ctx, {.id = id, .set = what}));
    return {};
  }
  GetAclReply acl(FileId id) {
    auto reply = this->ns().get_acl({}, {id});
    EXPECT_TRUE(reply);
    return reply ? std::move(*reply) : GetAclReply{std::make_shared<const Acl>(), false, {}};
  }
  std::uint32_t mode(FileId id) { return this->ns().getattr({}, {id})->attr.mode; }
  FileId make(std::string_view name, const SetAttributes& what = {}, const OpContext& ctx = {}) {
    const auto made = this->ns().create(ctx, {.parent = dir_, .name = name, .mode = CreateMode::kGuarded, .set = what});
    EXPECT_TRUE(made) << describe(made.error());
    return made ? made->attr.id : kNoFile;
  }
  FileId make_dir(std::string_view name, const SetAttributes& what = {}, const OpContext& ctx = {}) {
    const auto made = this->ns().mkdir(ctx, {dir_, name, what});
    EXPECT_TRUE(made) << describe(made.error());
    return made ? made->attr.id : kNoFile;
  }
  std::uint32_t access(FileId id, const OpContext& ctx, std::uint32_t wanted = 0x3f) {
    return this->ns().access(ctx, {id, wanted})->granted;
  }
  Errc code(const Status& status) { return status ? Errc{} : status.error().code; }
  bool reads(FileId id, const OpContext& ctx) {
    std::byte one[1];
    return this->ns().read(ctx, {id, 0, one}).has_value();
  }
  Errc writes(FileId id, const OpContext& ctx, std::uint64_t at = 0) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span("x", 1))};
    const auto written = this->ns().write(ctx, {id, at, pieces});
    return written ? Errc{} : written.error().code;
  }

  FileId dir_;
};
TYPED_TEST_SUITE(AclVolumeTest, Engines);

TYPED_TEST(AclVolumeTest, WithoutOneTheAclIsMadeFromTheMode) {
  const FileId f = this->make("f", {.mode = 0640});
  const GetAclReply reply = this->acl(f);
  EXPECT_FALSE(reply.stored);
  EXPECT_EQ(reply.acl->entries, acl_of_mode(0640, false).entries);
  EXPECT_EQ(reply.acl->flags, kAclDefaulted);
}

TYPED_TEST(AclVolumeTest, WhatIsSetDecidesAndSurvivesARestart) {
  const FileId f = this->make("f", {.mode = 04600});
  const std::vector<AclEntry> entries{deny(AclWho::user(7), kWrite), allow(AclWho::group_of(50), kRead | kWrite),
                                      allow({AclWho::Kind::kUserText, 0, "S-1-5-21-1-2-3-500"}, kAll),
                                      allow(AclWho::everyone(), kRead)};
  ASSERT_TRUE(this->set_acl(f, entries));
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(this->acl(f).stored);
    EXPECT_EQ(this->acl(f).acl->entries, entries);
    EXPECT_EQ(this->mode(f), 04444u);  // RFC 8881 6.4.1.2: the three high bits stay
    EXPECT_TRUE(this->reads(f, user(7, 50)));
    EXPECT_EQ(this->writes(f, user(7, 50)), Errc::kAccess);
    EXPECT_EQ(this->writes(f, user(8, 50)), Errc{});
    EXPECT_EQ(this->writes(f, user(8, 51)), Errc::kAccess);
    this->expect_consistent();
    this->reopen();
    ASSERT_TRUE(this->set(f, {.mode = 04000, .mode_mask = 04000}));  // writing has taken it away
  }
}

TYPED_TEST(AclVolumeTest, WhatAModeSaysIsKeptAsAMode) {
  const FileId f = this->make("f", {.mode = 0600});
  ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), kRead)}));
  EXPECT_TRUE(this->acl(f).stored);
  ASSERT_TRUE(this->set_acl(f, acl_of_mode(0751, false).entries));
  EXPECT_FALSE(this->acl(f).stored);
  EXPECT_EQ(this->mode(f), 0751u);
  std::string value;
  EXPECT_FALSE(*this->kv_->get(Family::kXattr, keys::id_name(f, keys::kAclXattr), &value));
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, MalformedOnesAreRefusedAndChangeNothing) {
  const FileId f = this->make("f", {.mode = 0600});
  EXPECT_EQ(this->code(this->set_acl(f, {allow(AclWho::everyone(), kAll, kF)})), Errc::kInvalid);
  EXPECT_EQ(this->code(this->set_acl(f, {allow(AclWho::everyone(), 0x800)})), Errc::kInvalid);
  EXPECT_EQ(this->code(this->set_acl(f, std::vector(kAclEntriesMax + 1, allow(AclWho::user(1), kRead)))),
            Errc::kTooLarge);
  EXPECT_EQ(this->code(this->set(f, {.chmod_policy = ChmodPolicy::kKeep})), Errc::kNotDirectory);
  const auto link = this->ns().symlink({}, {this->dir_, "link", "f"});
  EXPECT_EQ(this->code(this->set_acl(link->attr.id, {allow(AclWho::everyone(), kAll)})), Errc::kWrongType);
  EXPECT_EQ(this->mode(f), 0600u);
  EXPECT_FALSE(this->acl(f).stored);
  const auto refused = this->ns().create(
      {}, {.parent = this->dir_, .name = "g", .set = {.acl = list({allow(AclWho::everyone(), 0x800)})}});
  EXPECT_EQ(refused.error().code, Errc::kInvalid);
  EXPECT_EQ(this->ns().lookup({}, {this->dir_, "g"}).error().code, Errc::kNotFound);
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, TheOwnerAndWriteAclChangeIt) {
  const FileId f = this->make("f", {.mode = 0600}, user(7));
  ASSERT_TRUE(this->set_acl(f, {}, user(7)));  // no one may do anything
  EXPECT_EQ(this->mode(f), 0u);
  EXPECT_TRUE(this->ns().get_acl(user(7), {f}));
  EXPECT_EQ(this->ns().get_acl(user(8), {f}).error().code, Errc::kAccess);
  EXPECT_EQ(this->code(this->set_acl(f, {}, user(8))), Errc::kNotOwner);
  EXPECT_EQ(this->code(this->set(f, {.mode = 0777}, user(8))), Errc::kNotOwner);
  ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(8), kRightWriteAcl | kRightReadAcl)}, user(7)));
  EXPECT_TRUE(this->ns().get_acl(user(8), {f}));
  EXPECT_TRUE(this->set_acl(f, {allow(AclWho::user(8), kAll)}, user(8)));
  EXPECT_TRUE(this->reads(f, user(8)));
  // But only the owner makes it run as the owner.
  ASSERT_TRUE(this->set(f, {.mode = 06755}, user(8)));
  EXPECT_EQ(this->mode(f), 0755u);
  ASSERT_TRUE(this->set(f, {.mode = 04755}, user(7)));
  ASSERT_TRUE(this->set(f, {.mode = 04711}, user(8)));
  EXPECT_EQ(this->mode(f), 04711u);
}

TYPED_TEST(AclVolumeTest, AChangeIsAVisibleChange) {
  const FileId f = this->make("f");
  const Attributes before = this->ns().getattr({}, {f})->attr;
  ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), kRead)}));
  const Attributes after = this->ns().getattr({}, {f})->attr;
  EXPECT_GT(after.change, before.change);
  EXPECT_GT(after.ctime, before.ctime);
  EXPECT_EQ(after.mtime, before.mtime);
}

TYPED_TEST(AclVolumeTest, ModeFirstThenAcl) {
  // RFC 8881 6.4.1.3
  const FileId f = this->make("f", {.mode = 0600});
  ASSERT_TRUE(
      this->set(f, {.mode = 06777, .acl = list({allow(AclWho::owner(), kRead), allow(AclWho::user(7), kRead)})}));
  EXPECT_EQ(this->mode(f), 06400u);
  const FileId g = this->make("g", {.mode = 01777, .acl = list({allow(AclWho::group(), kRead)})});
  EXPECT_EQ(this->mode(g), 01040u);
  this->expect_consistent();
}

// --- chmod

TYPED_TEST(AclVolumeTest, ChmodKeepsNamedEntries) {
  const FileId f = this->make("f");
  ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), kRead | kWrite), allow(AclWho::owner(), kAll)}));
  ASSERT_TRUE(this->set(f, {.mode = 0604}));
  EXPECT_EQ(this->mode(f), 0604u);
  EXPECT_EQ(this->writes(f, user(7)), Errc{});
  EXPECT_TRUE(this->reads(f, user(8)));
  EXPECT_EQ(this->writes(f, user(8)), Errc::kAccess);
  // Other bits than permissions leave the list alone.
  const AclRef before = this->acl(f).acl;
  ASSERT_TRUE(this->set(f, {.mode = 01000, .mode_mask = 01000}));
  EXPECT_EQ(this->acl(f).acl, before);
  EXPECT_EQ(this->mode(f), 01604u);
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, TheDirectorysPolicyDecidesAboutChmod) {
  const FileId f = this->make("f");
  const auto begin = [&](ChmodPolicy policy) {
    ASSERT_TRUE(this->set(this->dir_, {.chmod_policy = policy}));
    EXPECT_EQ(this->acl(this->dir_).acl->chmod, policy);
    ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), kRead | kWrite), allow(AclWho::owner(), kRead)}));
  };
  begin(ChmodPolicy::kMask);
  ASSERT_TRUE(this->set(f, {.mode = 0640}));
  EXPECT_TRUE(this->reads(f, user(7)));
  EXPECT_EQ(this->writes(f, user(7)), Errc::kAccess);
  begin(ChmodPolicy::kReplace);
  ASSERT_TRUE(this->set(f, {.mode = 0640}));
  EXPECT_FALSE(this->acl(f).stored);
  EXPECT_FALSE(this->reads(f, user(7)));
  begin(ChmodPolicy::kRefuse);
  EXPECT_EQ(this->code(this->set(f, {.mode = 0640})), Errc::kNotOwner);
  EXPECT_EQ(this->mode(f), 0400u);
  const FileId plain = this->make("plain", {.mode = 0600});
  EXPECT_TRUE(this->set(plain, {.mode = 0640}));  // it has no list that could be lost
  // A policy stays when the list of the directory is set, and new directories take it.
  ASSERT_TRUE(this->set_acl(this->dir_, {allow(AclWho::everyone(), kAll)}));
  EXPECT_EQ(this->acl(this->dir_).acl->chmod, ChmodPolicy::kRefuse);
  EXPECT_EQ(this->acl(this->make_dir("sub", {.mode = 0755})).acl->chmod, ChmodPolicy::kRefuse);
  this->expect_consistent();
}

// --- inheritance

TYPED_TEST(AclVolumeTest, NewFilesInheritAndTheModeIsAppliedToIt) {
  ASSERT_TRUE(this->set_acl(
      this->dir_, {allow(AclWho::user(7), kRead | kWrite | kRightExecute, kF | kD), allow(AclWho::everyone(), kAll)}));
  // RFC 8881 6.4.3: just the mode is given.
  const FileId f = this->make("f", {.mode = 0640});
  EXPECT_EQ(this->mode(f), 0640u);
  const auto& entries = this->acl(f).acl->entries;
  EXPECT_EQ(std::ranges::count(entries, allow(AclWho::user(7), kRead | kWrite | kRightExecute, kAceInherited)), 1);
  EXPECT_EQ(this->writes(f, user(7)), Errc{});
  const FileId d = this->make_dir("d", {.mode = 0700});
  EXPECT_EQ(this->mode(d), 0700u);
  EXPECT_EQ(this->access(d, user(7)) & kAccessLookup, kAccessLookup + 0u);
  const auto below = this->ns().create({}, {.parent = d, .name = "x", .set = {.mode = 0600}});
  EXPECT_TRUE(this->reads(below->attr.id, user(7)));
  // Nothing for a symlink.
  const auto link = this->ns().symlink({}, {this->dir_, "link", "f"});
  EXPECT_FALSE(this->acl(link->attr.id).stored);
  const auto fifo = this->ns().mknod({}, {this->dir_, "fifo", FileType::kFifo, {}, {.mode = 0600}});
  EXPECT_TRUE(this->acl(fifo->attr.id).stored);
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, AnAclInTheRequestIsNotMixedWithWhatWouldBeInherited) {
  ASSERT_TRUE(this->set_acl(this->dir_, {allow(AclWho::user(7), kAll, kF | kD)}));
  const FileId f = this->make("f", {.acl = list({allow(AclWho::user(8), kRead)})});
  EXPECT_EQ(this->acl(f).acl->entries, (std::vector{allow(AclWho::user(8), kRead)}));
}

TYPED_TEST(AclVolumeTest, WithoutAModeItIsInheritedAsItIs) {
  const std::vector<AclEntry> given{allow(AclWho::owner(), kAll, kF | kD), allow(AclWho::everyone(), kRead, kF | kD)};
  ASSERT_TRUE(this->set_acl(this->dir_, given));
  const auto object = this->put(this->dir_, "a/b", "text");  // S3 knows no modes
  ASSERT_TRUE(object);
  std::vector<AclEntry> expected = given;
  for (AclEntry& entry : expected) entry.flags = kAceInherited;
  EXPECT_EQ(this->acl(object->attr.id).acl->entries, expected);
  EXPECT_EQ(object->attr.mode, 0744u);
  const auto implied = this->ns().lookup({}, {this->dir_, "a"});
  EXPECT_EQ(this->mode(implied->attr.id), 0744u);
  EXPECT_EQ(this->acl(implied->attr.id).acl->entries[0], allow(AclWho::owner(), kAll, kF | kD | kAceInherited));
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, AnInheritedAclOverridesTheUmask) {
  // RFC 8275
  EXPECT_EQ(this->mode(this->make("plain", {.mode = 0666, .umask = 022})), 0644u);
  ASSERT_TRUE(this->set_acl(this->dir_, {allow(AclWho::group(), kRead | kWrite, kF)}));
  EXPECT_EQ(this->mode(this->make("a", {.mode = 0666, .umask = 022})), 0664u);  // others are not mentioned
  EXPECT_EQ(this->mode(this->make("b", {.mode = 0600, .umask = 022})), 0600u);  // the mode takes away
  ASSERT_TRUE(this->set_acl(this->dir_, {allow(AclWho::everyone(), kRead, kF)}));
  EXPECT_EQ(this->mode(this->make("c", {.mode = 0666, .umask = 077})), 0444u);
}

TYPED_TEST(AclVolumeTest, WhatIsInheritedAndSaysNothingOfTheModeLeavesTheMode) {
  ASSERT_TRUE(this->set_acl(this->dir_, {deny(AclWho::everyone(), kRightDelete | kRightDeleteChild, kF | kD)}));
  EXPECT_EQ(this->mode(this->make("masked", {.mode = 0666, .umask = 022})), 0644u);
  EXPECT_EQ(this->mode(this->make_dir("sub", {.mode = 0777, .umask = 022})), 0755u);
  const auto object = this->put(this->dir_, "object", "text");
  ASSERT_TRUE(object);
  EXPECT_EQ(object->attr.mode, 0644u);
  EXPECT_TRUE(this->acl(object->attr.id).stored);
}

TYPED_TEST(AclVolumeTest, AnExclusiveCreateInheritsWithTheSetattrThatSaysItsMode) {
  ASSERT_TRUE(
      this->set_acl(this->dir_, {allow(AclWho::user(7), kRead | kWrite, kF | kD), allow(AclWho::everyone(), kAll)}));
  const auto exclusive = [&](std::string_view name) {
    const auto made =
        this->ns().create({}, {.parent = this->dir_, .name = name, .mode = CreateMode::kExclusive, .verifier = 5});
    EXPECT_TRUE(made);
    EXPECT_FALSE(this->acl(made->attr.id).stored);
    EXPECT_EQ(made->attr.mode, 0600u);
    return made->attr.id;
  };
  const FileId f = exclusive("f");
  ASSERT_TRUE(this->set(f, {.mode = 0640}));
  const FileId plain = this->make("plain", {.mode = 0640});
  EXPECT_EQ(this->mode(f), 0640u);
  EXPECT_EQ(this->acl(f).acl->entries, this->acl(plain).acl->entries);
  EXPECT_EQ(this->writes(f, user(7)), Errc{});
  // Only the first one is part of the create, and an ACL of its own is not mixed with it.
  const FileId later = exclusive("later");
  ASSERT_TRUE(this->set(later, {.atime = SetTime{.server_time = true}}));
  ASSERT_TRUE(this->set(later, {.mode = 0640}));
  EXPECT_FALSE(this->acl(later).stored);
  const FileId own = exclusive("own");
  ASSERT_TRUE(this->set(own, {.mode = 0640, .acl = list({allow(AclWho::user(8), kRead)})}));
  EXPECT_EQ(this->acl(own).acl->entries, (std::vector{allow(AclWho::user(8), kRead)}));
  this->expect_consistent();
}

// --- operations and their rights

TYPED_TEST(AclVolumeTest, NamesNeedTheRightForWhatTheyName) {
  const OpContext caller = user(7);
  const auto may = [&](std::uint32_t rights) {
    ASSERT_TRUE(this->set_acl(this->dir_, {allow(AclWho::user(7), rights | kRightSearch)}));
  };
  may(kRightAddFile);
  EXPECT_TRUE(this->ns().create(caller, {.parent = this->dir_, .name = "f"}));
  EXPECT_EQ(this->ns().mkdir(caller, {this->dir_, "d"}).error().code, Errc::kAccess);
  may(kRightAddSubdirectory);
  EXPECT_TRUE(this->ns().mkdir(caller, {this->dir_, "d"}));
  EXPECT_EQ(this->ns().create(caller, {.parent = this->dir_, .name = "g"}).error().code, Errc::kAccess);
  EXPECT_EQ(this->ns().symlink(caller, {this->dir_, "s", "x"}).error().code, Errc::kAccess);
  EXPECT_EQ(this->ns().rename(caller, {this->dir_, "f", this->dir_, "g"}).error().code, Errc::kAccess);
  EXPECT_EQ(this->ns().readdir(caller, {.dir = this->dir_}).error().code, Errc::kAccess);
  may(kRightListDirectory);
  EXPECT_TRUE(this->ns().readdir(caller, {.dir = this->dir_}));
  EXPECT_EQ(this->ns().unlink(caller, {this->dir_, "f"}).error().code, Errc::kAccess);
  may(kRightDeleteChild);
  EXPECT_TRUE(this->ns().rmdir(caller, {this->dir_, "d"}));
  EXPECT_EQ(this->ns().rename(caller, {this->dir_, "f", this->dir_, "g"}).error().code, Errc::kAccess);
  may(kRightDeleteChild | kRightAddFile);
  EXPECT_TRUE(this->ns().rename(caller, {this->dir_, "f", this->dir_, "g"}));
  EXPECT_TRUE(this->ns().unlink(caller, {this->dir_, "g"}));
  // DELETE on the file itself.
  const FileId f = this->make("h");
  may(0);
  EXPECT_EQ(this->ns().unlink(caller, {this->dir_, "h"}).error().code, Errc::kAccess);
  ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), kRightDelete)}));
  EXPECT_TRUE(this->ns().unlink(caller, {this->dir_, "h"}));
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, EachAttributeHasItsRight) {
  const OpContext caller = user(7);
  const FileId f = this->make("f");
  const auto may = [&](std::uint32_t rights) { ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), rights)})); };
  const SetAttributes then{.mtime = SetTime{.time = {5}}}, now{.mtime = SetTime{.server_time = true}};
  may(kRead);
  EXPECT_EQ(this->code(this->set(f, then, caller)), Errc::kNotOwner);
  EXPECT_EQ(this->code(this->set(f, now, caller)), Errc::kAccess);
  EXPECT_EQ(this->ns().get_xattr(caller, {f, "user.a"}).error().code, Errc::kAccess);
  may(kRightWriteData);
  EXPECT_TRUE(this->set(f, now, caller));
  EXPECT_EQ(this->ns().set_xattr(caller, {f, "user.a", "1"}).error().code, Errc::kAccess);
  may(kRightWriteAttributes);
  EXPECT_TRUE(this->set(f, then, caller));
  may(kRightWriteXattrs);
  EXPECT_TRUE(this->ns().set_xattr(caller, {f, "user.a", "1"}));
  EXPECT_EQ(this->ns().list_xattrs(caller, {f}).error().code, Errc::kAccess);
  may(kRightReadXattrs);
  EXPECT_EQ(this->ns().list_xattrs(caller, {f})->names,
            std::vector<std::string>{"user.a"});  // the ACL is not among them
  may(kRightWriteOwner);
  EXPECT_TRUE(this->set(f, {.uid = 7}, caller));
  EXPECT_EQ(this->ns().getattr({}, {f})->attr.uid, 7u);
}

TYPED_TEST(AclVolumeTest, WhoMayAppendCannotOverwrite) {
  const FileId f = this->make("f");
  ASSERT_TRUE(this->write(f, 0, "12345"));
  ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), kRead | kRightAppendData)}));
  EXPECT_EQ(this->writes(f, user(7), 4), Errc::kAccess);
  EXPECT_EQ(this->writes(f, user(7), 5), Errc{});
  EXPECT_EQ(this->code(this->set(f, {.size = 3}, user(7))), Errc::kAccess);
  EXPECT_TRUE(this->set(f, {.size = 10}, user(7)));
  EXPECT_EQ(this->ns().punch(user(7), {f, 0, 5}).error().code, Errc::kAccess);
  EXPECT_EQ(this->read(f).substr(0, 6), "12345x");
}

TYPED_TEST(AclVolumeTest, S3RequestsAreDecidedByTheSameList) {
  ASSERT_TRUE(this->put(this->dir_, "a/b", "text"));
  const FileId a = this->ns().lookup({}, {this->dir_, "a"})->attr.id;
  const FileId b = this->ns().lookup({}, {a, "b"})->attr.id;
  ASSERT_TRUE(this->set_acl(b, {deny(AclWho::user(7), kRead), allow(AclWho::everyone(), kRead)}));
  EXPECT_TRUE(this->ns().lookup_key(user(8), {this->dir_, "a/b"}));
  EXPECT_EQ(this->ns().lookup_key(user(7), {this->dir_, "a/b"}).error().code, Errc::kAccess);
  ASSERT_TRUE(this->set_acl(a, {allow(AclWho::user(8), kRightSearch)}));
  EXPECT_EQ(this->ns().remove_key(user(8), {this->dir_, "a/b"}).error().code, Errc::kAccess);
  ASSERT_TRUE(this->set_acl(b, {allow(AclWho::user(8), kRightDelete)}));
  EXPECT_TRUE(this->ns().remove_key(user(8), {this->dir_, "a/b"})->removed);
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, RemovalTakesTheRecordAlong) {
  const FileId f = this->make("f");
  const FileId d = this->make_dir("d");
  ASSERT_TRUE(this->set_acl(f, {allow(AclWho::user(7), kRead)}));
  ASSERT_TRUE(this->set_acl(d, {allow(AclWho::user(7), kRead)}));
  ASSERT_TRUE(this->ns().unlink({}, {this->dir_, "f"}));
  ASSERT_TRUE(this->ns().rmdir({}, {this->dir_, "d"}));
  const auto it = this->kv_->scan(Family::kXattr, {}, {});
  EXPECT_FALSE(it->valid());
  this->expect_consistent();
}

TYPED_TEST(AclVolumeTest, TheVerifierNoticesDamage) {
  const FileId missing = this->make("missing"), damaged = this->make("damaged"), stray = this->make("stray");
  ASSERT_TRUE(this->set_acl(missing, {allow(AclWho::user(7), kRead)}));
  ASSERT_TRUE(this->set_acl(damaged, {allow(AclWho::user(7), kRead)}));
  ASSERT_TRUE(this->volume_->flush());
  this->volume_.reset();
  WriteBatch batch;
  batch.remove(Family::kXattr, keys::id_name(missing, keys::kAclXattr));
  batch.put(Family::kXattr, keys::id_name(damaged, keys::kAclXattr), "x");
  batch.put(Family::kXattr, keys::id_name(stray, keys::kAclXattr), "x");
  const WriteBatch* const batches[] = {&batch};
  ASSERT_TRUE(this->kv_->apply(batches));
  this->open();
  EXPECT_EQ(this->volume_->check({})->problem_count, 6u) << "each, and that its bytes are not what the file counts";
  EXPECT_EQ(this->ns().getattr({}, {missing}).error().code, Errc::kCorrupt);
}

TYPED_TEST(AclVolumeTest, MemoryForAclsIsBounded) {
  // More than the cache keeps: 2000 lists of about 60 KiB.
  const std::vector<AclEntry> wide(kAclEntriesMax, allow(AclWho::user(7), kRead));
  std::vector<FileId> files;
  for (int i = 0; i < 2000; ++i) {
    files.push_back(this->make("f" + std::to_string(i), {.acl = list(wide)}));
    ASSERT_NE(files.back(), kNoFile);
  }
  const auto gauge = [&] {
    const std::string text = this->metrics_.render();
    const auto at = text.find("\nstoa_cached_acl_bytes ");
    EXPECT_NE(at, text.npos);
    return std::stod(text.substr(at + 23));
  };
  EXPECT_LT(gauge(), 80e6);
  for (const FileId f : files) ASSERT_TRUE(this->reads(f, user(7)));
  EXPECT_LT(gauge(), 80e6);
}

}  // namespace
}  // namespace stoa::core::test
