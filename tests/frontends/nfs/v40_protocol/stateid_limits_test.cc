// The limit of a client's stateids in minor version 0: NFS4ERR_RESOURCE (RFC 7530 13.1.3.5), which does not count as a
// turn of its owner (9.1.7).
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"

namespace stoa::test {
namespace {

class StateidLimits40Test : public ProtocolTest {
 protected:
  StateidLimits40Test() {
    options.stateids = {.of_client = 2, .of_peer = 3};
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<Caller40>(port, "a");
    b = std::make_unique<Caller40>(port, "b");
    a->connect();
    b->connect();
    root = a->handle_of({"test"});
    file = a->open_confirmed(root, "f", 1);
  }
  std::unique_ptr<Caller40> a, b;
  Bytes root;
  Caller40::Open file;  // by a; the next number of its owner is 3
};

TEST_F(StateidLimits40Test, WhatIsRefusedIsNoTurn) {
  const auto locks = a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "g", 4).status, Nfs4Status::kResource);
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 4, "another", 1, 20, 10).status, Nfs4Status::kResource);
  const auto grown = a->lock(file.handle, locks.stateid, 2, 40, 10);
  ASSERT_EQ(grown.status, Nfs4Status::kOk);

  EXPECT_EQ(a->unlock(file.handle, grown.stateid, 3, 0, kToEnd).status, Nfs4Status::kOk);
  EXPECT_EQ(a->release("l"), Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "g", 4).status, Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "h", 5).status, Nfs4Status::kResource);
}

TEST_F(StateidLimits40Test, OneAddressIsRefusedMore) {
  const auto g = a->open(root, "g", 3);
  ASSERT_EQ(g.status, Nfs4Status::kOk);
  EXPECT_EQ(b->open_confirmed(root, "g", 1).status, Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "h", 3).status, Nfs4Status::kResource);
  EXPECT_EQ(a->close(g.handle, g.stateid, 4).status, Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "h", 3).status, Nfs4Status::kOk);
}

}  // namespace
}  // namespace stoa::test
