// Leases of clients of NFSv4.0: RFC 7530 9.5, 9.6.3, 16.30.
#include <algorithm>

#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"

namespace stoa::test {
namespace {

class Lease40Test : public ProtocolTest {
 protected:
  explicit Lease40Test(Store store = Store::kDisk) : ProtocolTest(store) {
    options.lease_clock = [this] {
      return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds.load()));
    };
    publish("test", {anyone()});
    start_protocol();
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

class FullAddressTest : public Lease40Test {
 protected:
  FullAddressTest() : Lease40Test(Store::kMemory) {}
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

// 9.5: not only RENEW, but every operation that names the client or a stateid of it.
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

TEST_F(Lease40Test, WhatIsNotConfirmedWithinALeaseIsStale) {
  Caller40 late(port, "late");
  const auto set = late.set();
  const auto in_time = late.set();
  EXPECT_EQ(late.confirm(in_time), Nfs4Status::kOk);
  Caller40 other(port, "other");
  const auto never = other.set();
  CompoundCaller later(port, "later");
  auto exchanged = later.exchange();
  ASSERT_TRUE(exchanged.ok());
  exchanged.next(42);
  const std::uint64_t id = exchanged.in.u64();
  seconds += 91;
  EXPECT_EQ(other.confirm(never), Nfs4Status::kStaleClientId);
  EXPECT_EQ(later.create_session(id, 1).status, Nfs4Status::kStaleClientId);
  EXPECT_EQ(late.confirm(set), Nfs4Status::kStaleClientId);
  later.connect();
}

TEST_F(Lease40Test, TheLeaseIsWhatIsConfigured) {
  const auto lease_of = [&](CompoundCaller& c) {
    auto result = c.call(Ops().putrootfh().op(9).u32(1).u32(1u << 10));
    EXPECT_TRUE(result.ok());
    result.skip_sequence();
    result.next(24);
    result.next(9);
    result.in.u32();
    result.in.u32();
    result.in.u32();
    return result.in.u32();
  };
  EXPECT_EQ(lease_of(*b), 90u);
  options.lease = std::chrono::seconds(7);
  restart();
  CompoundCaller c(port, "c"), d(port, "d");
  c.connect();
  d.connect();
  EXPECT_EQ(lease_of(c), 7u);
  const auto file = c.open(root, "f", 3, 3);
  ASSERT_EQ(file.status, Nfs4Status::kOk);
  seconds += 7;
  EXPECT_EQ(d.open(root, "f", 1, 0, false).status, Nfs4Status::kShareDenied);
  seconds += 1;
  EXPECT_EQ(d.open(root, "f", 1, 0, false).status, Nfs4Status::kOk);
}

// 16.10.5: the client of the lock-owner.
TEST_F(Lease40Test, ALockOfAStaleClientIsRefused) {
  const auto file = a->open_confirmed(root, "f", 1);
  const std::uint64_t mine = std::exchange(a->client, a->client ^ std::uint64_t{1} << 40);
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10).status, Nfs4Status::kStaleClientId);
  a->client = 0;
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10).status, Nfs4Status::kStaleClientId);
  Caller40 other(port, "other");
  other.connect();
  a->client = other.client;
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10).status, Nfs4Status::kBadStateId);
  a->client = mine;
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10).status, Nfs4Status::kOk)
      << "the number has not counted";
}

// A full address takes further clients in place of those without state, then of those whose lease has run out.
TEST_F(FullAddressTest, ClientsWithoutStateAndExpiredOnesGiveWayToNewOnes) {
  ASSERT_EQ(a->open_confirmed(root, "f", 1).status, Nfs4Status::kOk);
  for (int i = 0; i < 2100; ++i) {
    Caller40 caller(port, "unconfirmed " + std::to_string(i));
    ASSERT_EQ(caller.set().status, Nfs4Status::kOk) << i;
  }
  int holders = 0;
  for (Nfs4Status status = Nfs4Status::kOk; status == Nfs4Status::kOk && holders < 3000; ++holders) {
    Caller40 caller(port, "holder " + std::to_string(holders));
    const auto set = caller.set();
    status = set.status;
    if (status != Nfs4Status::kOk) break;
    ASSERT_EQ(caller.confirm(set), Nfs4Status::kOk);
    caller.client = set.client;
    ASSERT_EQ(caller.open_confirmed(root, "f", 1).status, Nfs4Status::kOk) << holders;
  }
  EXPECT_GT(holders, 1024) << "whole networks come from one address";
  EXPECT_LT(holders, 3000);
  Caller40 refused(port, "refused");
  EXPECT_EQ(refused.set().status, Nfs4Status::kResource) << "all hold something";
  seconds += 91;
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);
  refused.connect();
  EXPECT_EQ(refused.open_confirmed(root, "f", 1).status, Nfs4Status::kOk);
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk) << "who is heard of stays";
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
