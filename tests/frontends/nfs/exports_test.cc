// MOUNT, and the rules of exports: admission, squashing, and reach.
#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

class ExportsTest : public ProtocolTest {
 protected:
  static core::ClientRule rule(std::string_view network, core::Squash squash = core::Squash::kNone,
                               bool read_only = false) {
    return {.network = *core::Network::parse(network),
            .read_only = read_only,
            .squash = squash,
            .anonymous_uid = 1111,
            .anonymous_gid = 2222};
  }
  std::uint32_t mount_status(NfsCaller& caller, std::string_view path) {
    return static_cast<std::uint32_t>(caller.mount_call(1, Xdr().string(path)).status);
  }
};

TEST_F(ExportsTest, MountGivesAHandleOfTheDirectory) {
  publish("test", {anyone()});
  start_protocol();
  NfsCaller nfs(port);
  NfsResult result = nfs.mount_call(1, Xdr().string("/test"));
  ASSERT_TRUE(result.ok());
  const auto bytes = result.in.opaque(64);
  const Handle root(bytes.begin(), bytes.end());
  EXPECT_EQ(result.in.u32(), 2u) << "flavors";
  EXPECT_EQ(result.in.u32(), 1u) << "AUTH_SYS";
  EXPECT_EQ(nfs.attributes(root).type, 2u);

  const Handle sub = nfs.mkdir(root, "sub");
  const Handle deep = nfs.mkdir(sub, "deep");
  EXPECT_EQ(nfs.mount("/test/sub/deep"), deep);
  EXPECT_EQ(nfs.mount("/test//sub/./deep/"), deep);
  EXPECT_EQ(nfs.mount("/test/sub/.."), root);
  EXPECT_EQ(nfs.mount("/test/../../.."), root) << "never above the export";
}

TEST_F(ExportsTest, OnlyFlavorsThatTheServerHasAreTold) {
  publish("mixed", {anyone()});
  publish("secret", {anyone()});
  const auto take = [&](std::string_view name, std::vector<core::SecurityFlavor> flavors) {
    core::Export entry = *volume->registry().snapshot()->find_export(name);
    entry.security = std::move(flavors);
    ASSERT_TRUE(volume->registry().change_export(entry));
  };
  take("mixed", {core::SecurityFlavor::kKrb5p, core::SecurityFlavor::kSys});
  take("secret", {core::SecurityFlavor::kKrb5p});
  start_protocol();  // without a keytab
  NfsCaller nfs(port);
  const auto flavors = [&](const std::string& path) {
    NfsResult result = nfs.mount_call(1, Xdr().string(path));
    EXPECT_TRUE(result.ok());
    result.in.opaque(64);
    std::vector<std::uint32_t> list;
    for (std::uint32_t left = result.in.u32(); left > 0 && result.in.ok(); --left) list.push_back(result.in.u32());
    return list;
  };
  EXPECT_EQ(flavors("/mixed"), (std::vector<std::uint32_t>{1, 0}));
  EXPECT_EQ(flavors("/secret"), std::vector<std::uint32_t>{});
}

TEST_F(ExportsTest, MountFailsInTheRightWords) {
  publish("test", {anyone()});
  publish("closed", {rule("10.99.0.0/16")});
  start_protocol();
  NfsCaller nfs(port);
  const Handle root = *nfs.mount("/test");
  nfs.create(root, "file");
  EXPECT_EQ(mount_status(nfs, "/nothing"), 2u);
  EXPECT_EQ(mount_status(nfs, "/"), 2u);
  EXPECT_EQ(mount_status(nfs, "test"), 2u);
  EXPECT_EQ(mount_status(nfs, "/test/missing"), 2u);
  EXPECT_EQ(mount_status(nfs, "/test/file"), 20u);
  EXPECT_EQ(mount_status(nfs, "/test/file/x"), 20u);
  EXPECT_EQ(mount_status(nfs, "/test/" + std::string(300, 'a')), 63u);
  EXPECT_EQ(mount_status(nfs, "/closed"), 13u);
  EXPECT_EQ(nfs.mount_call(1, Xdr().string("/" + std::string(1024, 'a'))).reply.accept_status, 4u);
}

TEST_F(ExportsTest, AUserOnRecordHasTheGroupsOfItsRecordAndNotThoseOfTheWire) {
  publish("test", {rule("*", core::Squash::kRoot)});
  start_protocol();
  core::User ann{.name = "ann", .uid = 1001, .gid = 1001};
  for (std::uint32_t gid = 5000; gid < 5040; ++gid) ann.groups.push_back(gid);  // many more than AUTH_SYS carries
  ann.groups.push_back(0);
  ASSERT_TRUE(volume->registry().add_user(ann));
  const core::FileId root = volume->registry().snapshot()->find_export("test")->root;
  const auto directory = [&](const std::string& name, std::uint32_t gid) {
    ASSERT_TRUE(volume->ns().mkdir({}, {.parent = root, .name = name, .set = {.mode = 0070, .uid = 0, .gid = gid}}));
  };
  directory("last", 5039);
  directory("own", 1001);
  directory("claimed", 6000);
  directory("wire", 6001);
  directory("root", 0);
  const auto can_search = [&](NfsCaller& caller, const std::string& name) {
    const Handle dir = *caller.lookup(*caller.mount("/test"), name);
    return caller.status_of(kLookup, dir, "nothing") == NfsStatus::kNoEnt;
  };
  NfsCaller ann_nfs(port, 1001, 6000, {6001});
  EXPECT_TRUE(can_search(ann_nfs, "last"));
  EXPECT_TRUE(can_search(ann_nfs, "own")) << "also when the caller has chosen another group for new files";
  EXPECT_TRUE(can_search(ann_nfs, "claimed")) << "which stays";
  EXPECT_FALSE(can_search(ann_nfs, "wire"));
  EXPECT_FALSE(can_search(ann_nfs, "root")) << "group 0 is squashed like root";
  NfsCaller unknown(port, 1002, 6000, {6001});
  EXPECT_TRUE(can_search(unknown, "wire")) << "who has no record keeps what it says";
  EXPECT_FALSE(can_search(unknown, "last"));
}

TEST_F(ExportsTest, OtherVersionsOfMountAreAMismatch) {
  publish("test", {anyone()});
  start_protocol();
  WireClient wire(port);
  for (const std::uint32_t version : {1u, 2u, 4u}) {
    const auto reply = wire.call({.program = 100005, .version = version, .procedure = 1});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->accept_status, 2u);
    EXPECT_EQ(reply->low, 3u);
    EXPECT_EQ(reply->high, 3u);
  }
  EXPECT_EQ(wire.call({.program = 100005, .version = 3, .procedure = 6})->accept_status, 3u);
  EXPECT_EQ(wire.call({.program = 100005, .version = 3, .procedure = 0})->accept_status, 0u);
}

TEST_F(ExportsTest, BothProgramsAnswerOnBothPorts) {
  publish("test", {anyone()});
  options.mount_port = 0;
  start_protocol();
  EXPECT_NE(server->port(), server->mount_port());
  NfsCaller other(server->mount_port());
  const auto root = other.mount("/test");
  ASSERT_TRUE(root);
  EXPECT_TRUE(other.getattr(*root).ok());
}

TEST_F(ExportsTest, TheMountListRemembersUntilUnmount) {
  publish("test", {anyone()});
  start_protocol();
  NfsCaller nfs(port);
  const auto listed = [&] {
    CallSpec s = nfs.spec(2);
    s.program = 100005;
    const auto reply = nfs.wire.call(s);
    rpc::XdrReader in(reply->results);
    std::vector<std::string> all;
    while (in.boolean()) {
      const std::string client(in.string(255));
      all.push_back(client + ":" + std::string(in.string(1024)));
    }
    return all;
  };
  nfs.mount("/test");
  nfs.mount("/test");
  nfs.mkdir(*nfs.mount("/test"), "sub");
  nfs.mount("/test/sub");
  EXPECT_EQ(listed(), (std::vector<std::string>{"127.0.0.1:/test", "127.0.0.1:/test/sub"}));
  nfs.mount_call(3, Xdr().string("/test"));
  EXPECT_EQ(listed(), (std::vector<std::string>{"127.0.0.1:/test/sub"}));
  nfs.mount_call(4, Xdr());
  EXPECT_TRUE(listed().empty());
}

TEST_F(ExportsTest, TheExportListNamesNetworks) {
  publish("b", {rule("10.0.0.0/8"), rule("*")});
  publish("a", {});
  start_protocol();
  NfsCaller nfs(port);
  CallSpec s = nfs.spec(5);
  s.program = 100005;
  const auto reply = nfs.wire.call(s);
  rpc::XdrReader in(reply->results);
  ASSERT_TRUE(in.boolean());
  EXPECT_EQ(in.string(1024), "/a");
  EXPECT_FALSE(in.boolean());
  ASSERT_TRUE(in.boolean());
  EXPECT_EQ(in.string(1024), "/b");
  ASSERT_TRUE(in.boolean());
  EXPECT_EQ(in.string(255), "10.0.0.0/8");
  ASSERT_TRUE(in.boolean());
  EXPECT_EQ(in.string(255), "*");
  EXPECT_FALSE(in.boolean());
  EXPECT_FALSE(in.boolean());
  EXPECT_EQ(in.left(), 0u);
}

TEST_F(ExportsTest, ARuleThatGoesTakesEffectOnHandlesGivenOutBefore) {
  publish("test", {anyone()});
  start_protocol();
  NfsCaller nfs(port);
  const Handle root = *nfs.mount("/test");
  const Handle file = nfs.create(root, "f");
  core::Export changed = *volume->registry().snapshot()->find_export("test");
  changed.clients = {rule("10.99.0.0/16")};
  ASSERT_TRUE(volume->registry().change_export(changed));
  EXPECT_EQ(nfs.getattr(root).status, NfsStatus::kAccess);
  EXPECT_EQ(nfs.read_call(file, 0, 10).status, NfsStatus::kAccess);
  changed.clients = {anyone(core::Squash::kNone, true)};
  ASSERT_TRUE(volume->registry().change_export(changed));
  EXPECT_TRUE(nfs.getattr(root).ok());
  EXPECT_EQ(nfs.write(file, 0, "x"), NfsStatus::kRoFs);
  changed.nfs = false;
  changed.s3 = true;
  ASSERT_TRUE(volume->registry().change_export(changed));
  EXPECT_EQ(nfs.getattr(root).status, NfsStatus::kStale);
  ASSERT_TRUE(volume->registry().remove_export("test"));
  EXPECT_EQ(nfs.getattr(root).status, NfsStatus::kStale);
}

TEST_F(ExportsTest, AReadOnlyExportRefusesEveryChange) {
  publish("test", {anyone(core::Squash::kNone, true)});
  const auto dir = volume->registry().snapshot()->find_export("test")->root;
  ASSERT_TRUE(volume->ns().create({}, {.parent = dir, .name = "f", .set = {.mode = 0666}}));
  ASSERT_TRUE(volume->ns().mkdir({}, {.parent = dir, .name = "d", .set = {.mode = 0777}}));
  start_protocol();
  NfsCaller nfs(port);
  const Handle root = *nfs.mount("/test");
  const Handle file = *nfs.lookup(root, "f");
  EXPECT_EQ(nfs.write(file, 0, "x"), NfsStatus::kRoFs);
  EXPECT_EQ(nfs.create_call(root, "g", 0).status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs.create_call(root, "g", 2, {}, 5).status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs.mkdir_call(root, "g").status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs.symlink_call(root, "g", "x").status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs.status_of(kRemove, root, "f"), NfsStatus::kRoFs);
  EXPECT_EQ(nfs.status_of(kRmdir, root, "d"), NfsStatus::kRoFs);
  EXPECT_EQ(nfs.rename_call(root, "f", root, "g").status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs.setattr(file, {.mode = 0600}).status, NfsStatus::kRoFs);
  EXPECT_EQ(nfs.call(kLink, Xdr().opaque(file).opaque(root).string("l")).status, NfsStatus::kRoFs);
  EXPECT_TRUE(nfs.read_call(file, 0, 10).ok());
  NfsResult access = nfs.call(kAccess, Xdr().opaque(file).u32(0x3f));
  read_post_op(access.in);
  EXPECT_EQ(access.in.u32() & 0x1c, 0u) << "no modify, extend, delete";
}

TEST_F(ExportsTest, SquashDecidesWhoTheCallerIs) {
  publish("none", {rule("*", core::Squash::kNone)});
  publish("root", {rule("*", core::Squash::kRoot)});
  publish("all", {rule("*", core::Squash::kAll)});
  start_protocol();
  const auto owner_of_new_file = [&](std::string_view path, std::uint32_t uid, std::uint32_t gid) {
    NfsCaller nfs(port, uid, gid);
    const Handle root = *nfs.mount(path);
    const WireAttributes attr = nfs.attributes(nfs.create(root, "by" + std::to_string(uid), {}));
    return std::pair(attr.uid, attr.gid);
  };
  EXPECT_EQ(owner_of_new_file("/none", 0, 0), std::pair(0u, 0u));
  EXPECT_EQ(owner_of_new_file("/none", 7, 8), std::pair(7u, 8u));
  EXPECT_EQ(owner_of_new_file("/root", 0, 0), std::pair(1111u, 2222u));
  EXPECT_EQ(owner_of_new_file("/root", 7, 8), std::pair(7u, 8u));
  EXPECT_EQ(owner_of_new_file("/all", 0, 0), std::pair(1111u, 2222u));
  EXPECT_EQ(owner_of_new_file("/all", 7, 8), std::pair(1111u, 2222u));
}

TEST_F(ExportsTest, WithoutCredentialsTheCallerIsAnonymous) {
  publish("test", {rule("*", core::Squash::kNone)});
  start_protocol();
  NfsCaller nfs(port);
  const Handle root = *nfs.mount("/test");
  CallSpec spec{.xid = 9, .program = 100003, .version = 3, .procedure = kCreate};
  Xdr x;
  test::put(x.opaque(root).string("f").u32(0), {});
  ASSERT_TRUE(NfsResult(nfs.wire.call(spec, x)).ok());
  EXPECT_EQ(nfs.attributes(*nfs.lookup(root, "f")).uid, 1111u);
}

TEST_F(ExportsTest, SupplementaryGroupsCount) {
  publish("test", {anyone(core::Squash::kRoot)});
  start_protocol();
  NfsCaller owner(port, 10, 10);
  const Handle root = *owner.mount("/test");
  const Handle dir = owner.mkdir(root, "d", {.mode = 0770, .gid = 10});
  NfsCaller member(port, 20, 20, {1, 2, 3, 10});
  EXPECT_TRUE(member.create_call(dir, "f", 0).ok());
  NfsCaller other(port, 21, 21, {1, 2, 3});
  EXPECT_EQ(other.create_call(dir, "g", 0).status, NfsStatus::kAccess);
}

TEST_F(ExportsTest, HandlesOfTwoExportsDoNotMix) {
  publish("a", {anyone()});
  publish("b", {anyone()});
  start_protocol();
  NfsCaller nfs(port);
  const Handle a = *nfs.mount("/a");
  const Handle b = *nfs.mount("/b");
  const Handle file = nfs.create(a, "f");
  EXPECT_EQ(nfs.rename_call(a, "f", b, "f").status, NfsStatus::kXDev);
  EXPECT_EQ(nfs.call(kLink, Xdr().opaque(file).opaque(b).string("l")).status, NfsStatus::kXDev);
  EXPECT_EQ(nfs.rename_call(a, "f", Bytes(36), "f").status, NfsStatus::kBadHandle);
}

TEST_F(ExportsTest, AHandleOfAnotherVolumeIsABadHandle) {
  publish("test", {anyone()});
  start_protocol();
  const core::HandleCodec foreign(volume->ns().volume_id() + 1, {1, 2});
  const auto bytes = foreign.encode({core::kRootId, 1, volume->registry().snapshot()->exports().front().id});
  NfsCaller nfs(port);
  EXPECT_EQ(nfs.getattr(Handle(bytes.begin(), bytes.end())).status, NfsStatus::kBadHandle);
}

}  // namespace
}  // namespace stoa::test
