// Clients of NFSv4.0: SETCLIENTID (RFC 7530 16.33), SETCLIENTID_CONFIRM (16.34), RENEW (16.30), and which operations
// there are.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"

namespace stoa::test {
namespace {

class Client40Test : public ProtocolTest {
 protected:
  Client40Test() {
    publish("test", {anyone()});
    start_protocol();
  }
};

TEST_F(Client40Test, AClientCountsOnceItIsConfirmed) {
  Caller40 c(port, "a");
  const auto made = c.set();
  ASSERT_EQ(made.status, Nfs4Status::kOk);
  EXPECT_EQ(c.renew(made.client), Nfs4Status::kStaleClientId);
  EXPECT_EQ(c.confirm(made.client, made.confirm + 1), Nfs4Status::kStaleClientId);
  EXPECT_EQ(c.confirm(made), Nfs4Status::kOk);
  EXPECT_EQ(c.confirm(made), Nfs4Status::kOk);  // a retry
  EXPECT_EQ(c.renew(made.client), Nfs4Status::kOk);
}

TEST_F(Client40Test, TheSameIncarnationKeepsItsClientIdWhenItsCallbackChanges) {
  Caller40 c(port, "a");
  c.connect();
  const Bytes root = c.handle_of({"test"});
  const auto file = c.open_confirmed(root, "f", 1);
  const auto update = c.set();
  EXPECT_EQ(update.client, c.client);
  EXPECT_EQ(c.renew(c.client), Nfs4Status::kOk);  // also before it is confirmed
  const auto newer = c.set();
  EXPECT_EQ(newer.client, c.client);
  EXPECT_NE(newer.confirm, update.confirm);
  EXPECT_EQ(c.confirm(update), Nfs4Status::kStaleClientId);  // replaced by the newer one
  EXPECT_EQ(c.confirm(newer), Nfs4Status::kOk);
  EXPECT_EQ(c.confirm(newer), Nfs4Status::kOk);
  EXPECT_EQ(c.write(file.handle, file.stateid, "still mine"), Nfs4Status::kOk);
}

TEST_F(Client40Test, ANewIncarnationEndsTheOldOneWhenItIsConfirmed) {
  Caller40 old(port, "a", 1);
  old.connect();
  const Bytes root = old.handle_of({"test"});
  const auto file = old.open_confirmed(root, "f", 1);
  Caller40 fresh(port, "a", 2);
  const auto made = fresh.set();
  EXPECT_NE(made.client, old.client);
  EXPECT_EQ(old.write(file.handle, file.stateid, "x"), Nfs4Status::kOk);
  ASSERT_EQ(fresh.confirm(made), Nfs4Status::kOk);
  EXPECT_EQ(old.write(file.handle, file.stateid, "x"), Nfs4Status::kExpired);
  EXPECT_EQ(old.renew(old.client), Nfs4Status::kExpired);
  EXPECT_EQ(old.open(root, "f", 3).status, Nfs4Status::kExpired);
}

TEST_F(Client40Test, OfTwoUnconfirmedTheLaterRemains) {
  Caller40 first(port, "a", 1), second(port, "a", 2);
  const auto one = first.set();
  const auto two = second.set();
  EXPECT_NE(one.client, two.client);
  EXPECT_EQ(first.confirm(one), Nfs4Status::kStaleClientId);
  EXPECT_EQ(second.confirm(two), Nfs4Status::kOk);
  // Behind a confirmed one, too.
  const auto three = first.set();
  const auto four = Caller40(port, "a", 3).set();
  EXPECT_EQ(first.confirm(three), Nfs4Status::kStaleClientId);
  EXPECT_EQ(first.confirm(four), Nfs4Status::kOk);
}

TEST_F(Client40Test, SomebodyElsesNameIsInUseWhileItHoldsState) {
  Caller40 a(port, "a", 1, 0), thief(port, "a", 2, 1000);
  a.connect();
  const auto early = thief.set();
  EXPECT_EQ(early.status, Nfs4Status::kOk);  // it holds nothing yet
  EXPECT_EQ(a.confirm(early), Nfs4Status::kClidInUse);
  const auto file = a.open_confirmed(a.handle_of({"test"}), "f", 1);
  EXPECT_EQ(thief.confirm(early), Nfs4Status::kClidInUse);
  auto refused = thief.set_client();
  EXPECT_EQ(refused.status, Nfs4Status::kClidInUse);
  EXPECT_EQ(refused.next(35), Nfs4Status::kClidInUse);
  EXPECT_EQ(refused.in.string(64), "tcp");
  EXPECT_EQ(refused.in.string(64), "127.0.0.1.4.1");
  ASSERT_EQ(a.close(file.handle, file.stateid, 3).status, Nfs4Status::kOk);
  const auto late = thief.set();
  ASSERT_EQ(late.status, Nfs4Status::kOk);
  EXPECT_EQ(a.renew(a.client), Nfs4Status::kOk);
  EXPECT_EQ(thief.confirm(late), Nfs4Status::kOk);
  EXPECT_EQ(a.renew(a.client), Nfs4Status::kExpired);
}

TEST_F(Client40Test, ClientIdsThatWereNeverGivenOutAreStale) {
  Caller40 c(port, "a");
  c.connect();
  const Bytes root = c.handle_of({"test"});
  for (const std::uint64_t unknown : {c.client + 100, c.client ^ std::uint64_t{1} << 40, std::uint64_t{0}}) {
    EXPECT_EQ(c.renew(unknown), Nfs4Status::kStaleClientId);
    EXPECT_EQ(c.confirm(unknown, 1), Nfs4Status::kStaleClientId);
    c.client = unknown;
    EXPECT_EQ(c.open(root, "f", 1).status, Nfs4Status::kStaleClientId);
    EXPECT_EQ(c.release("l"), Nfs4Status::kStaleClientId);
    EXPECT_EQ(c.send(Ops().putfh(root).op(13).u32(1).u64(0).u64(1).u64(unknown).string("l")).status,
              Nfs4Status::kStaleClientId);
  }
}

TEST_F(Client40Test, ClientsOfOtherMinorVersionsDoNotMeet) {
  CompoundCaller later(port, "a");
  later.connect();
  Caller40 c(port, "a", 2);
  c.connect();
  EXPECT_TRUE(later.call(Ops().putrootfh()).ok());
  EXPECT_EQ(c.renew(later.client), Nfs4Status::kStaleClientId);
  EXPECT_EQ(later.create_session(c.client, 1).status, Nfs4Status::kStaleClientId);
  EXPECT_EQ(later.send(Ops().op(57).u64(c.client)).status, Nfs4Status::kStaleClientId);
  const Bytes root = c.handle_of({"test"});
  const auto theirs = later.open(root, "f", 3);
  EXPECT_EQ(c.write(theirs.handle, theirs.stateid, "x"), Nfs4Status::kBadStateId);
  const auto ours = c.open_confirmed(root, "f", 1);
  EXPECT_EQ(later.write(ours.handle, ours.stateid, "x"), Nfs4Status::kBadStateId);
}

TEST_F(Client40Test, OperationsOfLaterMinorVersionsAreIllegal) {
  Caller40 c(port, "a");
  for (std::uint32_t number = 40; number <= 76; ++number) {
    auto result = c.send(Ops().op(number));
    EXPECT_EQ(result.status, Nfs4Status::kOpIllegal) << number;
    EXPECT_EQ(result.next(10044), Nfs4Status::kOpIllegal) << number;
  }
  EXPECT_EQ(c.send(Ops().op(2)).status, Nfs4Status::kOpIllegal);
  EXPECT_EQ(c.send(Ops().op(7).u64(1)).status, Nfs4Status::kNotSupp);  // DELEGPURGE
  EXPECT_EQ(c.send(Ops().op(31)).status, Nfs4Status::kRestoreFh);
  EXPECT_EQ(c.send(Ops().op(35).u64(1)).status, Nfs4Status::kBadXdr);
  EXPECT_EQ(c.send(Ops().op(36).u32(1)).status, Nfs4Status::kBadXdr);
  CompoundCaller later(port, "b");
  later.connect();
  for (const std::uint32_t number : {20u, 30u, 35u, 36u, 39u}) {
    EXPECT_EQ(later.call(Ops().op(number)).status, Nfs4Status::kNotSupp) << number;
  }
}

TEST_F(Client40Test, WhatIsSentAgainIsNotDoneTwice) {
  Caller40 c(port, "a");
  const Bytes root = c.handle_of({"test"});
  Ops mkdir;
  mkdir.putfh(root).op(6).u32(2).string("d").u32(0).u32(0);
  auto first = c.send(mkdir);
  ASSERT_TRUE(first.ok());
  auto again = c.send_again(mkdir);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(first.reply.results, again.reply.results);
  EXPECT_EQ(c.send(mkdir).status, Nfs4Status::kExist);
  Ops remove;
  remove.putfh(root).op(28).string("d");
  EXPECT_TRUE(c.send(remove).ok());
  EXPECT_TRUE(c.send_again(remove).ok());
  EXPECT_EQ(c.send(remove).status, Nfs4Status::kNoEnt);
  EXPECT_EQ(metric("stoa_nfs_drc_replays_total"), 2u);
}

}  // namespace
}  // namespace stoa::test
