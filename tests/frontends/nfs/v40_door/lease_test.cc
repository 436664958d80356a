// Leases of clients of NFSv4.0: RFC 7530 9.5, 9.6.3, 16.30.
#include <algorithm>

#include "tests/frontends/nfs/door_fixture.h"
#include "tests/frontends/nfs/v40_door/caller_40.h"

namespace stoa::test {
namespace {

class Lease40Test : public DoorTest {
 protected:
  Lease40Test() : DoorTest(Store::kDisk) {
    options.lease_clock = [this] {
      return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds.load()));
    };
    publish("test", {anyone()});
    start_door();
    a = std::make_unique<Caller40>(port, "a");
    a->connect();
    b = std::make_unique<CompoundCaller>(port, "b");
    b->connect();
    root = a->handle_of({"test"});
  }
  ~Lease40Test() override { server.reset(); }
  std::atomic<std::int64_t> seconds{1000};
  std::unique_ptr<Caller40> a;
  std::unique_ptr<CompoundCaller> b;
  Bytes root;
};

TEST_F(Lease40Test, AnExpiredClientLosesWhatAnotherWants) {
  const auto file = a->open_confirmed(root, "f", 1);
  const auto locks = a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  const auto other = b->open(root, "f", 3);
  ASSERT_EQ(other.status, Nfs4Status::kOk);
  seconds += 90;
  EXPECT_EQ(b->lock(other.handle, other.stateid, "l", 0, 10).status, Nfs4Status::kDenied);
  seconds += 1;
  EXPECT_EQ(b->lock(other.handle, other.stateid, "l", 0, 10).status, Nfs4Status::kOk);

  EXPECT_EQ(a->renew(a->client), Nfs4Status::kExpired);
  EXPECT_EQ(a->write(file.handle, file.stateid, "x"), Nfs4Status::kExpired);
  EXPECT_EQ(a->unlock(file.handle, locks.stateid, 2, 0, 10).status, Nfs4Status::kExpired);
  EXPECT_EQ(a->close(file.handle, file.stateid, 4).status, Nfs4Status::kExpired);
  EXPECT_EQ(a->open(root, "f", 4).status, Nfs4Status::kExpired);
  const std::uint64_t before = a->client;
  a->connect();
  EXPECT_NE(a->client, before);
  EXPECT_EQ(a->open(file.handle, {}, 1, {.reclaim = true}).status, Nfs4Status::kNoGrace);
  const auto again = a->open_confirmed(root, "f", 2);
  EXPECT_EQ(a->lock_new(again.handle, again.stateid, 4, "l", 1, 0, 10).status, Nfs4Status::kDenied);
}

TEST_F(Lease40Test, AnExpiredClientKeepsWhatNobodyWants) {
  const auto file = a->open_confirmed(root, "f", 1, {.deny = 2});
  ASSERT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10).status, Nfs4Status::kOk);
  seconds += 3600;
  const auto reader = b->open(root, "f", 1, 0, false);
  ASSERT_EQ(reader.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(reader.handle, reader.stateid, "l", 20, 10, false).status, Nfs4Status::kOk);
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);
  EXPECT_EQ(a->write(file.handle, file.stateid, "back"), Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "f", 2, 0, false).status, Nfs4Status::kShareDenied);
  EXPECT_EQ(b->lock(reader.handle, reader.stateid, "l", 0, 1, false).status, Nfs4Status::kDenied);
}

// 9.5: not only RENEW, but whatever names the client or a stateid of it.
TEST_F(Lease40Test, WhateverTheClientAsksForRenewsItsLease) {
  const auto file = a->open_confirmed(root, "f", 1, {.deny = 3});
  const auto still_held = [&] { return b->open(root, "f", 1, 0, false).status == Nfs4Status::kShareDenied; };
  seconds += 60;
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);
  seconds += 60;
  EXPECT_TRUE(still_held());
  EXPECT_EQ(a->write(file.handle, file.stateid, "x"), Nfs4Status::kOk);
  seconds += 60;
  EXPECT_TRUE(still_held());
  EXPECT_EQ(a->open(root, "g", 3).status, Nfs4Status::kOk);
  seconds += 60;
  EXPECT_TRUE(still_held());
  seconds += 31;
  EXPECT_FALSE(still_held());
}

// RFC 7530 13.1.5.1.
TEST_F(Lease40Test, WhatAnAdministratorTookAwayIsToldAndTheClientGoesOn) {
  const auto file = a->open_confirmed(root, "f", 1);
  const auto locks = a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  const auto clients = server->clients();
  const auto mine = std::ranges::find(clients, "a", &nfs::ClientStatus::name);
  ASSERT_NE(mine, clients.end());
  EXPECT_EQ(mine->protocol, "nfs4.0");
  EXPECT_EQ(mine->held.locks, 1);
  ASSERT_TRUE(server->evict(mine->id));
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);
  EXPECT_EQ(a->write(file.handle, file.stateid, "x"), Nfs4Status::kAdminRevoked);
  EXPECT_EQ(a->unlock(file.handle, locks.stateid, 2, 0, 10).status, Nfs4Status::kAdminRevoked);
  EXPECT_EQ(a->close(file.handle, file.stateid, 4).status, Nfs4Status::kAdminRevoked);
  const auto theirs = b->open(root, "f", 3);
  EXPECT_EQ(b->lock(theirs.handle, theirs.stateid, "l", 0, 5).status, Nfs4Status::kOk);
  // Its owners begin anew, with any number.
  const auto again = a->open_confirmed(root, "f", 77);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_EQ(a->lock_new(again.handle, again.stateid, 79, "l", 5, 0, 10).status, Nfs4Status::kDenied);
  EXPECT_EQ(a->lock_new(again.handle, again.stateid, 80, "l", 6, 5, 5).status, Nfs4Status::kOk);
}

TEST_F(Lease40Test, WhatAnExpiredClientLostIsNotReclaimedAfterARestart) {
  const auto file = a->open_confirmed(root, "f", 1, {.deny = 3});
  seconds += 91;
  ASSERT_EQ(b->open(root, "f", 3, 3).status, Nfs4Status::kOk);
  restart();
  Caller40 again(port, "a");
  again.connect();
  EXPECT_EQ(again.open(file.handle, {}, 1, {.reclaim = true}).status, Nfs4Status::kReclaimBad);
}

}  // namespace
}  // namespace stoa::test
