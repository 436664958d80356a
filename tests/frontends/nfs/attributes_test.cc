// GETATTR, SETATTR, ACCESS, FSSTAT, FSINFO, PATHCONF.
#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

class AttributesTest : public ExportedTest {};

constexpr std::uint64_t seconds(std::uint64_t s) {
  return s << 32;
}

TEST_F(AttributesTest, OfADirectoryAndAFileAreRight) {
  const WireAttributes dir = nfs->attributes(root);
  EXPECT_EQ(dir.type, 2u);
  EXPECT_EQ(dir.mode, 0777u);
  const Handle file = nfs->create(root, "f", {.mode = 0640});
  ASSERT_EQ(nfs->write(file, 0, "hello"), NfsStatus::kOk);
  const WireAttributes attr = nfs->attributes(file);
  EXPECT_EQ(attr.type, 1u);
  EXPECT_EQ(attr.mode, 0640u);
  EXPECT_EQ(attr.links, 1u);
  EXPECT_EQ(attr.size, 5u);
  EXPECT_EQ(attr.fsid, dir.fsid);
  EXPECT_NE(attr.fileid, dir.fileid);
}

TEST_F(AttributesTest, GarbageInAHandleIsABadHandleAndTooLongAHandleIsGarbage) {
  EXPECT_EQ(nfs->getattr(Bytes(36)).status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->getattr({}).status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->getattr(Bytes(64)).status, NfsStatus::kBadHandle);
  EXPECT_EQ(nfs->call(kGetattr, Xdr().opaque(Bytes(65))).reply.accept_status, 4u);
  Handle forged = root;
  for (std::size_t i = 0; i < forged.size(); ++i) {
    forged = root;
    forged[i] ^= std::byte{1};
    EXPECT_EQ(nfs->getattr(forged).status, NfsStatus::kBadHandle) << i;
  }
}

TEST_F(AttributesTest, OfARemovedFileAreStale) {
  const Handle file = nfs->create(root, "f");
  ASSERT_EQ(nfs->status_of(kRemove, root, "f"), NfsStatus::kOk);
  EXPECT_EQ(nfs->getattr(file).status, NfsStatus::kStale);
  NfsResult set = nfs->setattr(file, {.mode = 0600});
  EXPECT_EQ(set.status, NfsStatus::kStale);
  EXPECT_FALSE(read_wcc(set.in).after) << "absent, as there is nothing";
  EXPECT_EQ(set.in.left(), 0u);
}

TEST_F(AttributesTest, AreSetAndComeBackInWeakCacheConsistencyData) {
  const Handle file = nfs->create(root, "f");
  const WireAttributes before = nfs->attributes(file);
  NfsResult set = nfs->setattr(file, {.mode = 0755,
                                      .uid = 10,
                                      .gid = 20,
                                      .size = 100,
                                      .atime_how = 2,
                                      .mtime_how = 2,
                                      .atime = seconds(5) | 6,
                                      .mtime = seconds(7) | 8});
  ASSERT_TRUE(set.ok());
  const WireWcc wcc = read_wcc(set.in);
  ASSERT_TRUE(wcc.before);
  EXPECT_EQ(wcc.before->size, before.size);
  EXPECT_EQ(wcc.before->mtime, before.mtime);
  EXPECT_EQ(wcc.before->ctime, before.ctime);
  ASSERT_TRUE(wcc.after);
  EXPECT_EQ(wcc.after->mode, 0755u);
  EXPECT_EQ(wcc.after->uid, 10u);
  EXPECT_EQ(wcc.after->gid, 20u);
  EXPECT_EQ(wcc.after->size, 100u);
  EXPECT_EQ(wcc.after->atime, seconds(5) | 6);
  EXPECT_EQ(wcc.after->mtime, seconds(7) | 8);
  EXPECT_GT(wcc.after->ctime, before.ctime);
}

TEST_F(AttributesTest, AServerTimeIsNow) {
  const Handle file = nfs->create(root, "f");
  ASSERT_TRUE(nfs->setattr(file, {.mtime_how = 2, .mtime = seconds(1)}).ok());
  ASSERT_TRUE(nfs->setattr(file, {.mtime_how = 1}).ok());
  EXPECT_GT(nfs->attributes(file).mtime, seconds(1'000'000'000));
}

TEST_F(AttributesTest, AGuardThatDoesNotMatchIsNotSync) {
  const Handle file = nfs->create(root, "f", {.mode = 0644});
  const std::uint64_t ctime = nfs->attributes(file).ctime;
  NfsResult refused = nfs->setattr(file, {.mode = 0600}, ctime + 1);
  EXPECT_EQ(refused.status, NfsStatus::kNotSync);
  const WireWcc wcc = read_wcc(refused.in);
  EXPECT_FALSE(wcc.before);
  ASSERT_TRUE(wcc.after);
  EXPECT_EQ(wcc.after->mode, 0644u);
  EXPECT_TRUE(nfs->setattr(file, {.mode = 0600}, ctime).ok());
}

TEST_F(AttributesTest, ATimeWithTooManyNanosecondsIsInvalid) {
  const Handle file = nfs->create(root, "f");
  EXPECT_EQ(nfs->setattr(file, {.mtime_how = 2, .mtime = 1'000'000'000}).status, NfsStatus::kInval);
  EXPECT_EQ(nfs->setattr(file, {.size = std::uint64_t{1} << 63}).status, NfsStatus::kInval);
}

TEST_F(AttributesTest, AnUnknownWayToSetATimeIsGarbage) {
  EXPECT_EQ(nfs->setattr(root, {.mtime_how = 3}).reply.accept_status, 4u);
}

TEST_F(AttributesTest, TheSizeOfADirectoryCannotBeSet) {
  const NfsStatus status = nfs->setattr(root, {.size = 0}).status;
  EXPECT_TRUE(status == NfsStatus::kInval || status == NfsStatus::kIsDir) << static_cast<int>(status);
}

TEST_F(AttributesTest, OnlyTheOwnerChangesTheMode) {
  const Handle file = nfs->create(root, "f", {.mode = 0666, .uid = 10});
  NfsCaller owner(port, 10, 10);
  NfsCaller other(port, 11, 11);
  EXPECT_EQ(other.setattr(file, {.mode = 0600}).status, NfsStatus::kPerm);
  EXPECT_TRUE(owner.setattr(file, {.mode = 0600}).ok());
  EXPECT_EQ(owner.setattr(file, {.uid = 11}).status, NfsStatus::kPerm) << "chown_restricted";
}

TEST_F(AttributesTest, AccessGrantsWhatTheModeGrants) {
  const Handle file = nfs->create(root, "f", {.mode = 0640, .uid = 10, .gid = 20});
  const auto granted = [&](NfsCaller& caller) {
    NfsResult result = caller.call(kAccess, Xdr().opaque(file).u32(0x3f));
    EXPECT_TRUE(result.ok());
    EXPECT_TRUE(read_post_op(result.in));
    return result.in.u32();
  };
  NfsCaller owner(port, 10, 99);
  NfsCaller member(port, 30, 30, {7, 20});
  NfsCaller other(port, 40, 40);
  EXPECT_EQ(granted(owner) & 0x2d, 0x0du);   // read, modify, extend
  EXPECT_EQ(granted(member) & 0x2d, 0x01u);  // read
  EXPECT_EQ(granted(other) & 0x2d, 0x00u);
}

TEST_F(AttributesTest, AnAclDecidesHereToo) {
  const Handle file = nfs->create(root, "f", {.mode = 0666});
  ASSERT_EQ(nfs->write(file, 0, "hello"), NfsStatus::kOk);
  const core::FileId id{nfs->attributes(file).fileid};
  const auto set = [&](std::vector<core::AclEntry> entries) {
    ASSERT_TRUE(volume->ns().setattr(
        {}, {.id = id, .set = {.acl = std::make_shared<const core::Acl>(core::Acl{std::move(entries)})}}));
  };
  NfsCaller ann(port, 1000, 1000), bob(port, 1001, 1001);
  const auto granted = [&](NfsCaller& caller) {
    NfsResult result = caller.call(kAccess, Xdr().opaque(file).u32(0x3f));
    read_post_op(result.in);
    return result.in.u32();
  };
  set({{.deny = true, .rights = core::kRightWriteData, .who = core::AclWho::user(1000)},
       {.rights = core::kRightReadData | core::kRightWriteData | core::kRightAppendData,
        .who = core::AclWho::everyone()}});
  EXPECT_EQ(nfs->attributes(file).mode, 0666u);
  EXPECT_EQ(granted(ann), 0x09u);
  EXPECT_EQ(granted(bob), 0x0du);
  EXPECT_EQ(ann.write(file, 0, "x"), NfsStatus::kAccess);
  EXPECT_EQ(ann.write(file, 5, "x"), NfsStatus::kOk);
  EXPECT_EQ(bob.write(file, 0, "x"), NfsStatus::kOk);
  set({{.rights = core::kRightWriteAcl, .who = core::AclWho::user(1001)}});
  EXPECT_EQ(ann.setattr(file, {.mode = 0600}).status, NfsStatus::kPerm);
  EXPECT_EQ(bob.setattr(file, {.mode = 0604}).status, NfsStatus::kOk);
  EXPECT_EQ(nfs->attributes(file).mode, 0604u);
}

TEST_F(AttributesTest, FileSystemFactsAreTrue) {
  NfsResult info = nfs->call(kFsinfo, Xdr().opaque(root));
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(read_post_op(info.in));
  EXPECT_EQ(info.in.u32(), 1u << 20) << "rtmax";
  info.in.u64();
  EXPECT_EQ(info.in.u32(), 1u << 20) << "wtmax";
  info.in.u64();
  info.in.u32();
  EXPECT_EQ(info.in.u64(), (std::uint64_t{1} << 63) - 1);
  EXPECT_EQ(info.in.u64(), 1u) << "time_delta";
  EXPECT_EQ(info.in.u32(), 0x1bu);
  EXPECT_EQ(info.in.left(), 0u);

  NfsResult stat = nfs->call(kFsstat, Xdr().opaque(root));
  ASSERT_TRUE(stat.ok());
  EXPECT_TRUE(read_post_op(stat.in));
  const std::uint64_t total = stat.in.u64();
  EXPECT_GT(total, 0u);
  EXPECT_LE(stat.in.u64(), total);
  EXPECT_EQ(stat.in.left(), 8u * 4 + 4);

  NfsResult conf = nfs->call(kPathconf, Xdr().opaque(root));
  ASSERT_TRUE(conf.ok());
  EXPECT_TRUE(read_post_op(conf.in));
  EXPECT_EQ(conf.in.u32(), core::kLinksMax);
  EXPECT_EQ(conf.in.u32(), 255u);
  EXPECT_TRUE(conf.in.boolean());
  EXPECT_TRUE(conf.in.boolean());
  EXPECT_FALSE(conf.in.boolean());
  EXPECT_TRUE(conf.in.boolean());
  EXPECT_EQ(conf.in.left(), 0u);

  for (const std::uint32_t procedure : {kFsinfo, kFsstat, kPathconf}) {
    NfsResult bad = nfs->call(procedure, Xdr().opaque(Bytes(36)));
    EXPECT_EQ(bad.status, NfsStatus::kBadHandle);
    EXPECT_FALSE(read_post_op(bad.in));
    EXPECT_EQ(bad.in.left(), 0u);
  }
}

}  // namespace
}  // namespace stoa::test
