// Losses and retransmissions of a client: replies, connections, the whole server.
#include <thread>

#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

class ReplayTest : public ExportedTest {};

TEST_F(ReplayTest, EveryChangeSentTwiceIsDoneOnce) {
  const Handle file = nfs->create(root, "file");
  nfs->mkdir(root, "empty");
  nfs->create(root, "old");
  nfs->create(root, "dead");
  const auto twice = [&](std::uint32_t procedure, const Xdr& arguments) {
    const CallSpec spec = nfs->spec(procedure);
    const auto first = nfs->wire.call(spec, arguments);
    // From another connection, as after a broken one.
    WireClient again(port);
    const auto second = again.call(spec, arguments);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->results, second->results) << procedure;
    EXPECT_EQ(rpc::load_be32(first->results.data()), 0u) << procedure;
  };
  Xdr create, mkdir, symlink, mknod, setattr;
  test::put(create.opaque(root).string("new").u32(1), {.mode = 0600});
  test::put(mkdir.opaque(root).string("newdir"), {.mode = 0700});
  test::put(symlink.opaque(root).string("newlink"), {}).string("target");
  test::put(mknod.opaque(root).string("fifo").u32(7), {});
  test::put(setattr.opaque(file), {.mode = 0600}).u32(1).u64(nfs->attributes(file).ctime);
  twice(kCreate, create);
  twice(kMkdir, mkdir);
  twice(kSymlink, symlink);
  twice(kMknod, mknod);
  twice(kSetattr, setattr);
  twice(kRemove, Xdr().opaque(root).string("dead"));
  twice(kRmdir, Xdr().opaque(root).string("empty"));
  twice(kRename, Xdr().opaque(root).string("old").opaque(root).string("moved"));
  twice(kLink, Xdr().opaque(file).opaque(root).string("second"));
  EXPECT_EQ(metric("stoa_nfs_drc_replays_total"), 9u);
}

TEST_F(ReplayTest, AFailureIsReplayedToo) {
  const CallSpec spec = nfs->spec(kRemove);
  const Xdr arguments = Xdr().opaque(root).string("x");
  EXPECT_EQ(NfsResult(nfs->wire.call(spec, arguments)).status, NfsStatus::kNoEnt);
  nfs->create(root, "x");
  EXPECT_EQ(NfsResult(nfs->wire.call(spec, arguments)).status, NfsStatus::kNoEnt);
  EXPECT_TRUE(nfs->lookup(root, "x"));
}

TEST_F(ReplayTest, ReadsAreNotReplayed) {
  const Handle file = nfs->create(root, "f");
  const CallSpec spec = nfs->spec(kGetattr);
  const Xdr arguments = Xdr().opaque(file);
  NfsResult first(nfs->wire.call(spec, arguments));
  EXPECT_EQ(read_attributes(first.in).size, 0u);
  nfs->write(file, 0, "abc");
  NfsResult second(nfs->wire.call(spec, arguments));
  EXPECT_EQ(read_attributes(second.in).size, 3u);
}

class RestartTest : public ExportedTest {
 protected:
  RestartTest() : ExportedTest(Store::kDisk) {}
};

TEST_F(RestartTest, HandlesCookiesAndExclusiveCreatesSurvive) {
  const Handle dir = nfs->mkdir(root, "dir");
  for (int i = 0; i < 10; ++i) nfs->create(dir, "f" + std::to_string(i));
  const Handle file = *nfs->lookup(dir, "f3");
  ASSERT_EQ(nfs->write(file, 0, "content"), NfsStatus::kOk);
  ASSERT_TRUE(nfs->create_call(dir, "once", 2, {}, 4711).ok());
  const WireListing page = nfs->readdir(dir, 0, 0, 300);
  const WireAttributes before = nfs->attributes(file);

  restart();
  NfsCaller again(port);
  EXPECT_EQ(again.read(file), "content");
  const WireAttributes after = again.attributes(file);
  EXPECT_EQ(after.fileid, before.fileid);
  EXPECT_EQ(after.fsid, before.fsid);
  EXPECT_EQ(after.mtime, before.mtime);
  EXPECT_EQ(after.ctime, before.ctime);
  EXPECT_TRUE(again.create_call(dir, "once", 2, {}, 4711).ok()) << "the verifier is stored";
  EXPECT_EQ(again.create_call(dir, "once", 2, {}, 4712).status, NfsStatus::kExist);
  const WireListing rest = again.readdir(dir, page.entries.back().cookie, page.verifier, 65'536);
  EXPECT_EQ(rest.status, NfsStatus::kOk);
  EXPECT_EQ(page.entries.size() + rest.entries.size(), 13u);
}

// RFC 1813 4.5: the reply of a change that is not idempotent may be lost together with the server.
TEST_F(RestartTest, AChangeSentAgainAfterARestartIsDoneOnce) {
  const Handle file = nfs->create(root, "file");
  for (const std::string_view name : {"old", "dead", "dead40"}) nfs->create(root, std::string(name));
  nfs->mkdir(root, "empty");
  Xdr create, mkdir, symlink, mknod, setattr;
  test::put(create.opaque(root).string("new").u32(1), {.mode = 0600});
  test::put(mkdir.opaque(root).string("newdir"), {.mode = 0700});
  test::put(symlink.opaque(root).string("newlink"), {}).string("target");
  test::put(mknod.opaque(root).string("fifo").u32(7), {});
  test::put(setattr.opaque(file), {.mode = 0600}).u32(1).u64(nfs->attributes(file).ctime);
  // A COMPOUND of minor version 0: PUTFH, REMOVE, PUTFH, CREATE of a directory.
  Xdr compound;
  compound.string("").u32(0).u32(4).u32(22).opaque(root).u32(28).string("dead40").u32(22).opaque(root);
  compound.u32(6).u32(2).string("dir40").u32(0).opaque(Bytes{});
  CallSpec spec40 = nfs->spec(1);
  spec40.version = 4;
  const std::vector<std::pair<CallSpec, Xdr>> calls = {
      {nfs->spec(kCreate), create},
      {nfs->spec(kMkdir), mkdir},
      {nfs->spec(kSymlink), symlink},
      {nfs->spec(kMknod), mknod},
      {nfs->spec(kSetattr), setattr},
      {nfs->spec(kRemove), Xdr().opaque(root).string("dead")},
      {nfs->spec(kRmdir), Xdr().opaque(root).string("empty")},
      {nfs->spec(kRename), Xdr().opaque(root).string("old").opaque(root).string("moved")},
      {nfs->spec(kLink), Xdr().opaque(file).opaque(root).string("second")},
      {spec40, compound}};
  const auto status = [](WireClient& wire, const CallSpec& spec, const Xdr& arguments) {
    const auto reply = wire.call(spec, arguments);
    EXPECT_TRUE(reply);
    return reply ? rpc::load_be32(reply->results.data()) : ~0u;
  };
  for (const auto& [spec, arguments] : calls) EXPECT_EQ(status(nfs->wire, spec, arguments), 0u) << spec.procedure;
  restart();
  WireClient again(port);
  for (const auto& [spec, arguments] : calls) EXPECT_EQ(status(again, spec, arguments), 0u) << spec.procedure;
  EXPECT_EQ(metric("stoa_nfs_drc_replays_total"), 0u);
  // The same arguments in a new call are a new request.
  NfsCaller other(port);
  for (auto [spec, arguments] : calls) {
    spec.xid = other.spec(spec.procedure).xid + 0x1000'0000;
    EXPECT_NE(status(again, spec, arguments), 0u) << spec.procedure;
  }
}

TEST_F(RestartTest, TheWriteVerifierChanges) {
  const Handle file = nfs->create(root, "f");
  const auto verifier_of = [&](NfsCaller& caller) {
    NfsResult commit = caller.call(kCommit, Xdr().opaque(file).u64(0).u32(0));
    EXPECT_TRUE(commit.ok());
    read_wcc(commit.in);
    return commit.in.u64();
  };
  const std::uint64_t before = verifier_of(*nfs);
  EXPECT_EQ(verifier_of(*nfs), before);
  restart();
  NfsCaller again(port);
  EXPECT_NE(verifier_of(again), before);
}

TEST_F(RestartTest, AHandleOfARemovedFileStaysStale) {
  const Handle file = nfs->create(root, "f");
  ASSERT_EQ(nfs->status_of(kRemove, root, "f"), NfsStatus::kOk);
  restart();
  NfsCaller again(port);
  EXPECT_EQ(again.getattr(file).status, NfsStatus::kStale);
  const Handle next = again.create(root, "f");
  EXPECT_NE(next, file);
  EXPECT_EQ(again.getattr(file).status, NfsStatus::kStale);
}

TEST_F(RestartTest, StableWritesAndCommittedOnesAreThere) {
  const Handle stable = nfs->create(root, "stable");
  const Handle committed = nfs->create(root, "committed");
  const std::string large(300'000, 'z');
  ASSERT_EQ(nfs->write(stable, 0, large, 2), NfsStatus::kOk);
  ASSERT_EQ(nfs->write(committed, 0, large, 0), NfsStatus::kOk);
  ASSERT_TRUE(nfs->call(kCommit, Xdr().opaque(committed).u64(0).u32(0)).ok());
  restart();
  NfsCaller again(port);
  EXPECT_EQ(again.read(stable), large);
  EXPECT_EQ(again.read(committed), large);
}

}  // namespace
}  // namespace stoa::test
