// A restart of the server: RFC 7530 9.6.2, 9.1.4.4, 16.16.5.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"

namespace stoa::test {
namespace {

class Reclaim40Test : public ProtocolTest {
 protected:
  Reclaim40Test() {
    publish("test", {anyone()});
    start_protocol();
  }
};

TEST_F(Reclaim40Test, OpensAndLocksAreTakenBackWithoutConfirmation) {
  Caller40 before(port, "a");
  before.connect();
  const Bytes root = before.handle_of({"test"});
  const auto file = before.open_confirmed(root, "f", 1);
  ASSERT_EQ(before.lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10).status, Nfs4Status::kOk);
  restart();

  Caller40 a(port, "a");
  EXPECT_EQ(a.renew(before.client), Nfs4Status::kStaleClientId);
  EXPECT_EQ(a.write(file.handle, file.stateid, "x"), Nfs4Status::kStaleStateId);
  EXPECT_EQ(a.close(file.handle, file.stateid, 4).status, Nfs4Status::kStaleStateId);
  a.connect();
  EXPECT_EQ(a.open(root, "f", 1).status, Nfs4Status::kGrace);
  const auto again = a.open(file.handle, {}, 2, {.reclaim = true});
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_FALSE(again.must_confirm());
  EXPECT_EQ(again.handle, file.handle);
  EXPECT_EQ(a.lock_new(again.handle, again.stateid, 3, "m", 1, 20, 1).status, Nfs4Status::kGrace);
  EXPECT_EQ(a.lock_new(again.handle, again.stateid, 4, "l", 1, 0, 10, true).status, Nfs4Status::kOk);
  EXPECT_EQ(a.write(again.handle, again.stateid, "x"), Nfs4Status::kOk);

  // A client without state has nothing to reclaim, also not a client of sessions with the same
  // name.
  Caller40 b(port, "b");
  b.connect();
  EXPECT_EQ(b.open(file.handle, {}, 1, {.reclaim = true}).status, Nfs4Status::kReclaimBad);
  CompoundCaller later(port, "a");
  later.connect(false);
  Ops reclaim;
  reclaim.putfh(file.handle).op(18).u32(0).u32(3).u32(0).u64(later.client).string("o").u32(0).u32(1).u32(0);
  EXPECT_EQ(later.call(reclaim).status, Nfs4Status::kReclaimBad);
}

TEST_F(Reclaim40Test, NothingIsReclaimedWithoutARestart) {
  Caller40 a(port, "a");
  a.connect();
  const auto file = a.open_confirmed(a.handle_of({"test"}), "f", 1);
  EXPECT_EQ(a.open(file.handle, {}, 3, {.reclaim = true}).status, Nfs4Status::kNoGrace);
  EXPECT_EQ(a.lock_new(file.handle, file.stateid, 4, "l", 1, 0, 10, true).status, Nfs4Status::kNoGrace);
}

TEST_F(Reclaim40Test, TheLongestNameIsRememberedToo) {
  Caller40 before(port, std::string(1024, 'n'));
  before.connect();
  const auto file = before.open_confirmed(before.handle_of({"test"}), "f", 1);
  restart();
  Caller40 after(port, std::string(1024, 'n'));
  after.connect();
  EXPECT_EQ(after.open(file.handle, {}, 1, {.reclaim = true}).status, Nfs4Status::kOk);
}

}  // namespace
}  // namespace stoa::test
