// Files moved out of an export are stale in a COMPOUND, too, even if open or locked; their state can be returned.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

class MovedOut4Test : public ProtocolTest {
 protected:
  MovedOut4Test() {
    publish("test", {anyone()});
    start_protocol();
    client = std::make_unique<CompoundCaller>(port, "client");
    client->back_channel = true;
    client->connect();
    root = client->handle_of({"test"});
    EXPECT_TRUE(client->call(Ops().putfh(root).op(6).u32(2).string("dir").u32(0).u32(0)).ok());
    dir = client->handle_of({"test", "dir"});
    exported = volume->registry().snapshot()->find_export("test")->root;
  }
  void move(core::FileId from, core::FileId to) {
    ASSERT_TRUE(volume->ns().rename({}, {.from_parent = from, .from_name = "dir", .to_parent = to, .to_name = "dir"}));
  }
  Nfs4Status at(const Bytes& handle, const Ops& ops) { return client->call(Ops().putfh(handle).more(ops)).status; }

  std::unique_ptr<CompoundCaller> client;
  Bytes root, dir;
  core::FileId exported{};
};

TEST_F(MovedOut4Test, NoOperationLeadsOn) {
  const auto file = client->open(dir, "f", 3);
  ASSERT_EQ(file.status, Nfs4Status::kOk);
  ASSERT_EQ(client->write(file.handle, file.stateid, "text"), Nfs4Status::kOk);
  auto locks = client->lock(file.handle, file.stateid, "l", 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  ASSERT_EQ(client->open(root, "other", 3).status, Nfs4Status::kOk);
  move(exported, core::kRootId);

  const Ops getattr = Ops().op(9).u32(1).u32(2);
  const WireStateid zeros{};
  EXPECT_EQ(at(dir, Ops().op(16)), Nfs4Status::kStale);  // LOOKUPP
  EXPECT_EQ(at(dir, Ops().op(16).op(16).op(16)), Nfs4Status::kStale);
  EXPECT_EQ(at(dir, Ops().lookup("f")), Nfs4Status::kStale);
  EXPECT_EQ(at(dir, getattr), Nfs4Status::kStale);
  EXPECT_EQ(at(dir, Ops().op(3).u32(1)), Nfs4Status::kStale);        // ACCESS
  EXPECT_EQ(at(dir, Ops().op(52).u32(1)), Nfs4Status::kStale);       // SECINFO_NO_NAME of the parent
  EXPECT_EQ(at(dir, Ops().op(33).string("f")), Nfs4Status::kStale);  // SECINFO
  EXPECT_EQ(at(dir, Ops().op(26).u64(0).u64(0).u32(100).u32(4096).u32(0)), Nfs4Status::kStale);     // READDIR
  EXPECT_EQ(at(dir, Ops().op(6).u32(2).string("new").u32(0).u32(0)), Nfs4Status::kStale);           // CREATE
  EXPECT_EQ(at(dir, Ops().op(28).string("f")), Nfs4Status::kStale);                                 // REMOVE
  EXPECT_EQ(at(dir, Ops().op(32).putfh(root).op(29).string("f").string("g")), Nfs4Status::kStale);  // SAVEFH, RENAME
  EXPECT_EQ(at(root, Ops().op(32).putfh(dir).op(29).string("other").string("g")), Nfs4Status::kStale);
  EXPECT_EQ(at(file.handle, Ops().op(32).putfh(root).op(11).string("l")), Nfs4Status::kStale);       // LINK
  EXPECT_EQ(at(dir, Ops().op(32).putfh(root).op(31).more(getattr)), Nfs4Status::kStale);             // RESTOREFH
  EXPECT_EQ(at(file.handle, Ops().op(25).stateid(file.stateid).u64(0).u32(4)), Nfs4Status::kStale);  // READ
  EXPECT_EQ(at(file.handle, Ops().op(25).stateid(zeros).u64(0).u32(4)), Nfs4Status::kStale);
  EXPECT_EQ(client->write(file.handle, locks.stateid, "more"), Nfs4Status::kStale);
  EXPECT_EQ(at(file.handle, Ops().op(5).u64(0).u32(0)), Nfs4Status::kStale);  // COMMIT
  EXPECT_EQ(client->open(dir, "f", 1).status, Nfs4Status::kStale);
  EXPECT_EQ(client->open_claim(file.handle, Ops().u32(4), 1).status, Nfs4Status::kStale);  // CLAIM_FH
  EXPECT_EQ(client->lock_again(file.handle, locks.stateid, 20, 10).status, Nfs4Status::kStale);
  EXPECT_TRUE(client->call(Ops().putfh(root).more(getattr)).ok());

  // Giving back is always possible.
  EXPECT_EQ(client->unlock(file.handle, locks.stateid, 0, 10), Nfs4Status::kOk);
  EXPECT_EQ(client->close(file.handle, file.stateid), Nfs4Status::kOk);
  move(core::kRootId, exported);
  EXPECT_EQ(client->read(file.handle, zeros), "text");
  EXPECT_TRUE(client->call(Ops().putfh(dir).op(16).more(getattr)).ok());
}

TEST_F(MovedOut4Test, ADelegationIsReturned) {
  const auto file = client->open(dir, "g", 1);
  ASSERT_EQ(file.status, Nfs4Status::kOk);
  ASSERT_EQ(file.delegation.type, 1u);
  move(exported, core::kRootId);
  EXPECT_EQ(at(file.handle, Ops().op(25).stateid(file.delegation.stateid).u64(0).u32(4)), Nfs4Status::kStale);
  EXPECT_EQ(client->return_delegation(file.handle, file.delegation.stateid), Nfs4Status::kOk);
}

}  // namespace
}  // namespace stoa::test
