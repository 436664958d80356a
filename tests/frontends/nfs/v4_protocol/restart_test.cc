// State of clients across a restart of the server: RFC 8881 8.4.2 (grace), 18.51 (RECLAIM_COMPLETE), 9.1.4.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

Ops claim_previous() {
  return Ops().u32(1).u32(0);
}

class RestartTest : public ProtocolTest {
 protected:
  explicit RestartTest(const core::VolumeOptions& volume_options = {}) : ProtocolTest(Store::kDisk, volume_options) {
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    b = std::make_unique<CompoundCaller>(port, "b");
    c = std::make_unique<CompoundCaller>(port, "c");
    for (CompoundCaller* client : {a.get(), b.get(), c.get()}) client->connect();
    root = a->handle_of({"test"});
  }

  // Server and volume; connections are gone.
  void restart_all() {
    restart();
    for (CompoundCaller* client : {a.get(), b.get(), c.get()}) client->reconnect(port);
  }
  // As a client does that finds its session and its record gone.
  void come_back(CompoundCaller& client) {
    EXPECT_EQ(client.call(Ops().putrootfh()).status, Nfs4Status::kBadSession);
    EXPECT_EQ(client.create_session(client.client, 2).status, Nfs4Status::kStaleClientId);
    client.connect(false);
  }
  static Nfs4Status reclaim_complete(CompoundCaller& client) { return client.call(Ops().op(58).u32(0)).status; }

  std::unique_ptr<CompoundCaller> a, b, c;  // c holds nothing
  Bytes root;
};

TEST_F(RestartTest, OpensAndLocksAreReclaimedBeforeAnybodyElseGetsThem) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "l", 10, 10).status, Nfs4Status::kOk);
  const auto other = b->open(root, "g", kOpenRead, kOpenWrite);
  ASSERT_EQ(other.status, Nfs4Status::kOk);
  restart_all();

  // c held nothing: it is not waited for, may not reclaim, and gets nothing new as long as others may.
  come_back(*c);
  EXPECT_EQ(c->open_claim(file.handle, claim_previous(), kOpenBoth).status, Nfs4Status::kReclaimBad);
  EXPECT_EQ(c->open(root, "f", kOpenBoth).status, Nfs4Status::kGrace);
  ASSERT_EQ(reclaim_complete(*c), Nfs4Status::kOk);
  EXPECT_EQ(c->open(root, "f", kOpenBoth).status, Nfs4Status::kGrace);
  EXPECT_EQ(c->open_claim(file.handle, claim_previous(), kOpenBoth).status, Nfs4Status::kNoGrace);

  come_back(*a);
  const auto again = a->open_claim(file.handle, claim_previous(), kOpenBoth);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_EQ(again.handle, file.handle);
  EXPECT_EQ(a->lock(again.handle, again.stateid, "l", 0, 5).status, Nfs4Status::kGrace);
  EXPECT_EQ(a->lock(again.handle, again.stateid, "l", 10, 10, true, true).status, Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "f", kOpenBoth).status, Nfs4Status::kGrace);
  EXPECT_EQ(a->write(again.handle, again.stateid, "in grace"), Nfs4Status::kOk);
  ASSERT_EQ(reclaim_complete(*a), Nfs4Status::kOk);
  EXPECT_EQ(a->open_claim(file.handle, claim_previous(), kOpenBoth, "late").status, Nfs4Status::kNoGrace);
  EXPECT_EQ(a->lock(again.handle, again.stateid, "l", 30, 1, true, true).status, Nfs4Status::kNoGrace);
  EXPECT_EQ(a->open(root, "f", kOpenBoth).status, Nfs4Status::kGrace);  // b is missing
  EXPECT_EQ(c->open(root, "f", kOpenBoth).status, Nfs4Status::kGrace);

  come_back(*b);
  ASSERT_EQ(b->open_claim(other.handle, Ops().u32(1).u32(0), kOpenRead).status, Nfs4Status::kOk);
  ASSERT_EQ(reclaim_complete(*b), Nfs4Status::kOk);
  // The last one has come: grace is over at once.
  const auto late = c->open(root, "f", kOpenBoth);
  ASSERT_EQ(late.status, Nfs4Status::kOk);
  EXPECT_EQ(c->lock(late.handle, late.stateid, "k", 15, 1).status, Nfs4Status::kDenied);
  EXPECT_EQ(c->lock(late.handle, late.stateid, "k", 20, 1).status, Nfs4Status::kOk);
  EXPECT_EQ(c->read(late.handle, late.stateid), "in grace");
  EXPECT_EQ(a->open(root, "f", kOpenBoth).status, Nfs4Status::kOk);
}

TEST_F(RestartTest, DelegationsAreHadBack) {
  constexpr std::uint32_t kWantWrite = 0x200, kTypeRead = 1, kTypeWrite = 2;
  CompoundCaller d(port, "d");
  d.back_channel = true;
  d.connect();
  for (const std::string_view name : {"r", "w", "lost"}) {
    const auto made = a->open(root, name, kOpenBoth);
    ASSERT_EQ(a->close(made.handle, made.stateid), Nfs4Status::kOk);
  }
  const auto reader = d.open(root, "r", kOpenRead, 0, false),
             writer = d.open(root, "w", kOpenBoth | kWantWrite, 0, false, "o2");
  const auto lost = d.open(root, "lost", kOpenRead, 0, false, "o3");
  ASSERT_EQ(reader.delegation.type, kTypeRead);
  ASSERT_EQ(writer.delegation.type, kTypeWrite);
  restart_all();
  d.reconnect(port);
  come_back(d);
  const auto r = d.open_claim(reader.handle, Ops().u32(1).u32(kTypeRead), kOpenRead);
  const auto w = d.open_claim(writer.handle, Ops().u32(1).u32(kTypeWrite), kOpenBoth, "o2");
  EXPECT_EQ(r.delegation.type, kTypeRead);
  EXPECT_EQ(w.delegation.type, kTypeWrite);
  EXPECT_EQ(d.open_claim(lost.handle, Ops().u32(1).u32(0), kOpenRead, "o3").delegation.type, 0u);
  EXPECT_EQ(d.open_claim(lost.handle, Ops().u32(1).u32(3), kOpenRead, "o3").status, Nfs4Status::kBadXdr);
  // One without an open (18.49).
  auto wanted = d.call(Ops().putfh(lost.handle).op(56).u32(0).u32(1).u32(kTypeRead));
  ASSERT_TRUE(wanted.ok());
  ASSERT_EQ(reclaim_complete(d), Nfs4Status::kOk);
  come_back(*c);
  ASSERT_EQ(reclaim_complete(*c), Nfs4Status::kOk);
  for (CompoundCaller* client : {a.get(), b.get()}) {
    come_back(*client);
    ASSERT_EQ(reclaim_complete(*client), Nfs4Status::kOk);
  }
  EXPECT_EQ(d.write(w.handle, w.delegation.stateid, "mine"), Nfs4Status::kOk);
  EXPECT_EQ(c->call(Ops().putfh(root).op(28).string("r")).status, Nfs4Status::kDelay);
  EXPECT_EQ(d.take_recall().stateid.other, r.delegation.stateid.other);
}

TEST_F(RestartTest, StateidsOfTheEarlierRunAreNotTakenForOthers) {
  const auto file = a->open(root, "f", kOpenBoth);
  restart_all();
  come_back(*a);
  const auto again = a->open_claim(file.handle, claim_previous(), kOpenBoth);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_NE(a->write(file.handle, file.stateid, "old"), Nfs4Status::kOk);
  EXPECT_EQ(a->write(file.handle, again.stateid, "new"), Nfs4Status::kOk);
}

TEST_F(RestartTest, WithoutStateThereIsNoGrace) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kOk);
  ASSERT_TRUE(a->call(Ops().op(44).fixed(a->session)).ok());
  ASSERT_TRUE(a->send(Ops().op(57).u64(a->client)).ok());
  restart_all();
  come_back(*c);
  EXPECT_EQ(c->open_claim(file.handle, claim_previous(), kOpenBoth).status, Nfs4Status::kNoGrace);
  ASSERT_EQ(reclaim_complete(*c), Nfs4Status::kOk);
  EXPECT_EQ(c->open(root, "f", kOpenBoth).status, Nfs4Status::kOk);
}

TEST_F(RestartTest, AClientThatCameBackForNothingAndLeftIsNotWaitedForAgain) {
  ASSERT_EQ(a->open(root, "f", kOpenBoth).status, Nfs4Status::kOk);
  restart_all();
  come_back(*a);
  ASSERT_EQ(reclaim_complete(*a), Nfs4Status::kOk);
  ASSERT_TRUE(a->call(Ops().op(44).fixed(a->session)).ok());
  ASSERT_TRUE(a->send(Ops().op(57).u64(a->client)).ok());
  restart_all();
  come_back(*c);
  ASSERT_EQ(reclaim_complete(*c), Nfs4Status::kOk);
  EXPECT_EQ(c->open(root, "f", kOpenBoth).status, Nfs4Status::kOk);
}

TEST_F(RestartTest, AnOpenFileWithoutANameOutlivesTheServer) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->write(file.handle, file.stateid, "no name"), Nfs4Status::kOk);
  ASSERT_TRUE(b->call(Ops().putfh(root).op(28).string("f")).ok());
  restart_all();
  ASSERT_TRUE(volume->run_gc());
  come_back(*a);
  const auto again = a->open_claim(file.handle, claim_previous(), kOpenBoth);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  ASSERT_EQ(reclaim_complete(*a), Nfs4Status::kOk);
  ASSERT_TRUE(volume->run_gc());
  EXPECT_EQ(a->read(again.handle, again.stateid), "no name");
  ASSERT_EQ(a->close(again.handle, again.stateid), Nfs4Status::kOk);
  ASSERT_TRUE(volume->run_gc());
  EXPECT_EQ(a->call(Ops().putfh(file.handle).op(9).u32(1).u32(2)).status, Nfs4Status::kStale);
}

TEST_F(RestartTest, AnOpenFileWithoutANameGoesWhenNobodyReclaimsIt) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_TRUE(b->call(Ops().putfh(root).op(28).string("f")).ok());
  restart_all();
  come_back(*a);
  ASSERT_EQ(reclaim_complete(*a), Nfs4Status::kOk);
  ASSERT_TRUE(volume->run_gc());
  EXPECT_EQ(a->call(Ops().putfh(file.handle).op(9).u32(1).u32(2)).status, Nfs4Status::kStale);
}

// The server cannot know the files that were open before its restart, until all clients have reclaimed.
TEST_F(RestartTest, WhatOthersRemoveOrCloseInGraceIsThereForWhoHadItOpen) {
  const auto removed = a->open(root, "removed", kOpenBoth), replaced = a->open(root, "replaced", kOpenBoth);
  const auto nameless = a->open(root, "nameless", kOpenBoth), shared = b->open(root, "nameless", kOpenBoth);
  for (const auto* file : {&removed, &replaced, &nameless}) {
    ASSERT_EQ(a->write(file->handle, file->stateid, "kept"), Nfs4Status::kOk);
  }
  const auto made = c->open(root, "new", kOpenBoth);
  ASSERT_EQ(c->close(made.handle, made.stateid), Nfs4Status::kOk);
  ASSERT_TRUE(c->call(Ops().putfh(root).op(28).string("nameless")).ok());
  restart_all();
  NfsCaller v3(port);
  const auto root_v3 = v3.mount("/test");
  ASSERT_TRUE(root_v3);
  EXPECT_EQ(v3.named(kRemove, *root_v3, "removed").status, NfsStatus::kOk);
  come_back(*c);
  EXPECT_TRUE(c->call(Ops().putfh(root).op(32).op(29).string("new").string("replaced")).ok());
  // b comes first, and is done with the file before a has reclaimed its open.
  come_back(*b);
  const auto early = b->open_claim(shared.handle, claim_previous(), kOpenBoth);
  ASSERT_EQ(early.status, Nfs4Status::kOk);
  ASSERT_EQ(b->close(early.handle, early.stateid), Nfs4Status::kOk);
  ASSERT_EQ(reclaim_complete(*b), Nfs4Status::kOk);
  ASSERT_TRUE(volume->run_gc());

  come_back(*a);
  std::vector<CompoundCaller::Open> again;
  for (const auto* file : {&removed, &replaced, &nameless}) {
    again.push_back(a->open_claim(file->handle, claim_previous(), kOpenBoth));
    ASSERT_EQ(again.back().status, Nfs4Status::kOk);
  }
  ASSERT_EQ(reclaim_complete(*a), Nfs4Status::kOk);
  ASSERT_EQ(reclaim_complete(*c), Nfs4Status::kOk);
  ASSERT_TRUE(volume->run_gc());
  for (const auto& file : again) {
    EXPECT_EQ(a->read(file.handle, file.stateid), "kept");
    EXPECT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kOk);
    EXPECT_EQ(a->call(Ops().putfh(file.handle).op(9).u32(1).u32(2)).status, Nfs4Status::kStale);
  }
}

// Grace is over as soon as it began.
class ShortGraceTest : public RestartTest {
 protected:
  ShortGraceTest() : RestartTest({.grace_ms = 1}) {}
};

TEST_F(ShortGraceTest, WhoComesTooLateHasLostItsStateForGood) {
  const auto file = a->open(root, "f", kOpenBoth, kOpenBoth);
  ASSERT_EQ(file.status, Nfs4Status::kOk);
  restart_all();
  come_back(*c);
  ASSERT_EQ(reclaim_complete(*c), Nfs4Status::kOk);
  Nfs4Status status;
  while ((status = c->open(root, "f", kOpenBoth).status) == Nfs4Status::kGrace) {
  }
  EXPECT_EQ(status, Nfs4Status::kOk);
  come_back(*a);
  EXPECT_EQ(a->open_claim(file.handle, claim_previous(), kOpenBoth).status, Nfs4Status::kNoGrace);
  ASSERT_EQ(reclaim_complete(*a), Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "f", kOpenRead, kOpenBoth, false).status, Nfs4Status::kShareDenied);
}

// --- leases of clients

class LeaseTest : public ProtocolTest {
 protected:
  LeaseTest() : ProtocolTest(Store::kDisk) {
    options.lease_clock = [this] {
      return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds.load()));
    };
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    b = std::make_unique<CompoundCaller>(port, "b");
    a->connect();
    b->connect();
    root = a->handle_of({"test"});
  }
  ~LeaseTest() override { server.reset(); }
  std::atomic<std::int64_t> seconds{1000};
  std::unique_ptr<CompoundCaller> a, b;
  Bytes root;
};

TEST_F(LeaseTest, AnExpiredClientLosesWhatAnotherWants) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "l", 0, 10).status, Nfs4Status::kOk);
  seconds += 90;
  const auto other = b->open(root, "f", kOpenBoth);
  ASSERT_EQ(other.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(other.handle, other.stateid, "l", 0, 10).status, Nfs4Status::kDenied);
  seconds += 1;
  EXPECT_EQ(b->lock(other.handle, other.stateid, "l", 0, 10).status, Nfs4Status::kOk);

  // It learns of that as it would of a restart, and finds no grace.
  EXPECT_EQ(a->call(Ops().putrootfh()).status, Nfs4Status::kBadSession);
  EXPECT_EQ(a->bind_connection(), Nfs4Status::kBadSession);
  EXPECT_EQ(a->create_session(a->client, 2).status, Nfs4Status::kStaleClientId);
  const std::uint64_t before = a->client;
  a->connect(false);
  EXPECT_NE(a->client, before);
  EXPECT_EQ(a->open_claim(file.handle, claim_previous(), kOpenBoth).status, Nfs4Status::kNoGrace);
  ASSERT_TRUE(a->call(Ops().op(58).u32(0)).ok());
  EXPECT_EQ(a->write(file.handle, file.stateid, "old stateid"), Nfs4Status::kBadStateId);
  const auto again = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_EQ(a->lock(again.handle, again.stateid, "l", 0, 10).status, Nfs4Status::kDenied);
}

// RFC 8881 8.4.3, the first edge condition: lost state must not be reclaimed after a restart of the server either.
TEST_F(LeaseTest, WhatAnExpiredClientLostIsNotReclaimedAfterARestart) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "l", 0, 10).status, Nfs4Status::kOk);
  seconds += 91;
  const auto other = b->open(root, "f", kOpenBoth);
  ASSERT_EQ(b->lock(other.handle, other.stateid, "l", 0, 10).status, Nfs4Status::kOk);
  restart();
  a->reconnect(port);
  a->connect(false);
  EXPECT_EQ(a->open_claim(file.handle, claim_previous(), kOpenBoth).status, Nfs4Status::kReclaimBad);
  b->reconnect(port);
  b->connect(false);
  const auto again = b->open_claim(other.handle, claim_previous(), kOpenBoth);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(again.handle, again.stateid, "l", 0, 10, true, true).status, Nfs4Status::kOk);
}

// The same client, without conflicts: the restart changes nothing.
TEST_F(LeaseTest, WhatAnExpiredClientKeptIsReclaimedAfterARestart) {
  const auto file = a->open(root, "f", kOpenBoth, kOpenWrite);
  seconds += 3600;
  restart();
  a->reconnect(port);
  a->connect(false);
  EXPECT_EQ(a->open_claim(file.handle, claim_previous(), kOpenBoth).status, Nfs4Status::kOk);
}

TEST_F(LeaseTest, FilesWithoutANameGoWithTheClientThatExpired) {
  const auto held = a->open(root, "wanted", kOpenBoth, kOpenBoth), nameless = a->open(root, "nameless", kOpenBoth);
  ASSERT_TRUE(b->call(Ops().putfh(root).op(28).string("nameless")).ok());
  seconds += 91;
  EXPECT_TRUE(b->call(Ops().putfh(nameless.handle).op(9).u32(1).u32(2)).ok());
  EXPECT_EQ(b->open(root, "wanted", kOpenRead, 0, false).status, Nfs4Status::kOk);
  EXPECT_EQ(b->call(Ops().putfh(nameless.handle).op(9).u32(1).u32(2)).status, Nfs4Status::kStale);
}

TEST_F(LeaseTest, OnlyWhoIsInTheWayOfALockLosesWhatItHas) {
  CompoundCaller c(port, "c"), d(port, "d");
  c.connect();
  d.connect();
  const auto lock = [&](CompoundCaller& client, std::uint64_t offset, std::uint64_t length) {
    const auto file = client.open(root, "f", kOpenBoth);
    return client.lock(file.handle, file.stateid, "l", offset, length).status;
  };
  ASSERT_EQ(lock(*a, 0, 10), Nfs4Status::kOk);
  ASSERT_EQ(lock(*b, 10, 10), Nfs4Status::kOk);
  ASSERT_EQ(lock(c, 30, 10), Nfs4Status::kOk);
  seconds += 91;
  EXPECT_EQ(lock(d, 5, 10), Nfs4Status::kOk) << "two were in the way";
  EXPECT_EQ(c.status_flags(), 0u) << "comes back, and has its session";
  EXPECT_EQ(lock(d, 30, 10), Nfs4Status::kDenied);
  EXPECT_EQ(a->call(Ops().putrootfh()).status, Nfs4Status::kBadSession);
  EXPECT_EQ(b->call(Ops().putrootfh()).status, Nfs4Status::kBadSession);
}

TEST_F(LeaseTest, AnExpiredClientKeepsWhatNobodyWants) {
  const auto file = a->open(root, "f", kOpenBoth, kOpenWrite);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "l", 0, 10).status, Nfs4Status::kOk);
  seconds += 3600;
  EXPECT_EQ(b->open(root, "g", kOpenBoth, kOpenBoth).status, Nfs4Status::kOk);
  const auto reader = b->open(root, "f", kOpenRead, 0, false);
  ASSERT_EQ(reader.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(reader.handle, reader.stateid, "l", 20, 10, false).status, Nfs4Status::kOk);
  // It comes back, and all is unchanged.
  EXPECT_EQ(a->write(file.handle, file.stateid, "back"), Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "f", kOpenWrite, 0, false).status, Nfs4Status::kShareDenied);
  EXPECT_EQ(b->lock(reader.handle, reader.stateid, "l", 0, 1, false).status, Nfs4Status::kDenied);
}

TEST_F(LeaseTest, AShareReservationOfAnExpiredClientGivesWay) {
  const auto file = a->open(root, "f", kOpenBoth, kOpenBoth);
  seconds += 91;
  EXPECT_EQ(b->open(root, "f", kOpenRead, 0, false).status, Nfs4Status::kOk);
  EXPECT_EQ(a->call(Ops().putrootfh()).status, Nfs4Status::kBadSession);
}

TEST_F(LeaseTest, EverySequenceRenewsTheLease) {
  const auto file = a->open(root, "f", kOpenBoth, kOpenBoth);
  for (int i = 0; i < 3; ++i) {
    seconds += 60;
    EXPECT_TRUE(a->call({}).ok());
    EXPECT_EQ(b->open(root, "f", kOpenRead, 0, false).status, Nfs4Status::kShareDenied);
  }
}

TEST_F(LeaseTest, SomebodyElseMayTakeTheNameOfAnExpiredClient) {
  ASSERT_EQ(a->open(root, "f", kOpenBoth, kOpenBoth).status, Nfs4Status::kOk);
  CompoundCaller thief(port, "a", 2, 1000);
  EXPECT_EQ(thief.exchange().status, Nfs4Status::kClidInUse);
  seconds += 91;
  EXPECT_TRUE(thief.exchange().ok());
  EXPECT_EQ(a->call(Ops().putrootfh()).status, Nfs4Status::kBadSession);
}

}  // namespace
}  // namespace stoa::test
