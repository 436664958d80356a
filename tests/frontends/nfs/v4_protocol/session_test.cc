// Clients, sessions and the replay cache: RFC 8881 18.35, 18.36, 18.37, 18.46, 18.50, 2.10.6.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

class SessionTest : public ProtocolTest {
 protected:
  SessionTest() {
    publish("test", {anyone()});
    start_protocol();
  }
  std::uint64_t exchange(CompoundCaller& c, std::uint32_t* sequence = nullptr, std::uint32_t* flags = nullptr) {
    auto result = c.exchange();
    EXPECT_TRUE(result.ok());
    result.next(42);
    const std::uint64_t id = result.in.u64();
    const std::uint32_t number = result.in.u32();
    if (sequence != nullptr) *sequence = number;
    if (flags != nullptr) *flags = result.in.u32();
    return id;
  }
};

TEST_F(SessionTest, MinorVersionsThatAreNotThere) {
  CompoundCaller c(port, "a");
  auto result = c.send(Ops().putrootfh(), 3);
  EXPECT_EQ(result.status, Nfs4Status::kMinorVersMismatch);
  EXPECT_EQ(result.count, 0u);
}

TEST_F(SessionTest, WhatNeedsASessionAndWhatStandsAlone) {
  CompoundCaller c(port, "a");
  EXPECT_EQ(c.send(Ops().putrootfh()).status, Nfs4Status::kOpNotInSession);
  EXPECT_EQ(c.send(Ops().op(50).putrootfh()).status, Nfs4Status::kOpNotInSession);
  EXPECT_EQ(c.send(Ops().op(9999)).status, Nfs4Status::kOpIllegal);
  c.connect();
  EXPECT_EQ(c.send(Ops().op(57).u64(c.client).putrootfh()).status, Nfs4Status::kNotOnlyOp);
  EXPECT_EQ(c.call(Ops().sequence(c.session, 99)).status, Nfs4Status::kSequencePos);
  EXPECT_EQ(c.call(Ops().op(35)).status, Nfs4Status::kNotSupp);       // SETCLIENTID is not of this minor version
  EXPECT_EQ(c.call(Ops().op(59), 1).status, Nfs4Status::kOpIllegal);  // ALLOCATE belongs to 4.2
  EXPECT_EQ(c.call(Ops().op(2)).status, Nfs4Status::kOpIllegal);
  EXPECT_TRUE(c.call(Ops().putrootfh()).ok());
}

TEST_F(SessionTest, ARepeatedExchangeFindsTheRecord) {
  CompoundCaller c(port, "a");
  std::uint32_t flags = 0, sequence = 0;
  const std::uint64_t first = exchange(c, &sequence, &flags);
  EXPECT_EQ(flags & 0x80000000, 0u);
  const std::uint64_t second = exchange(c);  // not confirmed: replaced
  EXPECT_NE(first, second);
  ASSERT_TRUE(c.create_session(second, 1).ok());
  EXPECT_EQ(c.create_session(first, 1).status, Nfs4Status::kStaleClientId);
  EXPECT_EQ(exchange(c, &sequence, &flags), second);
  EXPECT_NE(flags & 0x80000000, 0u);
  EXPECT_EQ(sequence, 2u);
}

TEST_F(SessionTest, ANewIncarnationEndsTheOldOne) {
  CompoundCaller old(port, "a", 1);
  old.connect();
  CompoundCaller fresh(port, "a", 2);
  auto result = fresh.exchange();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(old.call(Ops().putrootfh()).ok());  // until it is confirmed
  fresh.connect();
  EXPECT_EQ(old.call(Ops().putrootfh()).status, Nfs4Status::kBadSession);
}

TEST_F(SessionTest, SomebodyElsesOwnerNameIsInUse) {
  CompoundCaller a(port, "a", 1, 0);
  a.connect();
  CompoundCaller thief(port, "a", 2, 1000);
  EXPECT_EQ(thief.exchange().status, Nfs4Status::kClidInUse);
  EXPECT_TRUE(a.call(Ops().putrootfh()).ok());
}

TEST_F(SessionTest, UpdatesNeedAConfirmedRecord) {
  constexpr std::uint32_t kUpdate = 0x40000000;
  CompoundCaller c(port, "a");
  EXPECT_EQ(c.exchange(kUpdate).status, Nfs4Status::kNoEnt);
  c.connect();
  EXPECT_TRUE(c.exchange(kUpdate).ok());
  EXPECT_EQ(CompoundCaller(port, "a", 7).exchange(kUpdate).status, Nfs4Status::kNotSame);
  EXPECT_EQ(CompoundCaller(port, "a", 1, 5).exchange(kUpdate).status, Nfs4Status::kPerm);
  EXPECT_EQ(c.exchange(0x8).status, Nfs4Status::kInval);
}

// 18.35.3, RFC 7862 14.1: bits that this minor version does not define, and the one that servers alone set.
TEST_F(SessionTest, UndefinedFlagsAreRefused) {
  CompoundCaller c(port, "a");
  constexpr std::uint32_t kDefined = 0x1 | 0x2 | 0x100 | 0x10000 | 0x20000 | 0x40000 | 0x40000000;
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
    const Nfs4Status expected = (bit & kDefined) == 0 ? Nfs4Status::kInval
                                : bit == 0x40000000   ? Nfs4Status::kNoEnt
                                                      : Nfs4Status::kOk;
    EXPECT_EQ(c.exchange(bit).status, expected) << std::hex << bit;
  }
  c.minor_version = 2;
  EXPECT_EQ(c.exchange(0x4).status, Nfs4Status::kOk);
}

TEST_F(SessionTest, ChannelsThatCouldCarryNothingAreTooSmall) {
  CompoundCaller c(port, "a");
  const std::uint64_t id = exchange(c);
  struct Channel {
    std::uint32_t request = 8192, response = 8192, cached = 8192, operations = 8, requests = 4;
  };
  const auto make = [&](const Channel& fore, const Channel& back) {
    Ops ops;
    ops.op(43).u64(id).u32(1).u32(0);
    for (const Channel& channel : {fore, back}) {
      ops.u32(0)
          .u32(channel.request)
          .u32(channel.response)
          .u32(channel.cached)
          .u32(channel.operations)
          .u32(channel.requests)
          .u32(0);
    }
    return c.send(ops.u32(0x40000000).u32(0)).status;
  };
  for (const Channel& small :
       {Channel{.request = 20}, Channel{.response = 0}, Channel{.operations = 0}, Channel{.requests = 0}}) {
    EXPECT_EQ(make(small, {}), Nfs4Status::kTooSmall);
    EXPECT_EQ(make({}, small), Nfs4Status::kTooSmall);
  }
  EXPECT_EQ(make({}, {.operations = 1}), Nfs4Status::kTooSmall) << "CB_SEQUENCE is one already";
  // A session that never caches replies needs no room for them; a reply to be cached is refused then (2.10.6.4).
  EXPECT_EQ(make({.cached = 10}, {}), Nfs4Status::kOk);
}

TEST_F(SessionTest, CreateSessionIsDoneOnce) {
  CompoundCaller c(port, "a");
  const std::uint64_t id = exchange(c);
  EXPECT_EQ(c.create_session(id, 5).status, Nfs4Status::kSeqMisordered);
  EXPECT_EQ(c.create_session(id, 1, 100).status, Nfs4Status::kTooSmall);
  auto first = c.create_session(id, 1);
  auto retry = c.create_session(id, 1);
  ASSERT_TRUE(first.ok() && retry.ok());
  EXPECT_EQ(first.reply.results, retry.reply.results);
  EXPECT_EQ(c.create_session(id, 3).status, Nfs4Status::kSeqMisordered);
  auto second = c.create_session(id, 2);
  ASSERT_TRUE(second.ok());
  EXPECT_NE(first.reply.results, second.reply.results);
  EXPECT_EQ(c.create_session(id + 1000, 1).status, Nfs4Status::kStaleClientId);
}

TEST_F(SessionTest, SlotsCountEveryRequest) {
  CompoundCaller c(port, "a");
  c.connect();
  const auto with = [&](std::uint32_t sequence, std::uint32_t slot) {
    return c.send(Ops().sequence(c.session, sequence, slot).putrootfh()).status;
  };
  EXPECT_EQ(with(1, 3), Nfs4Status::kOk);
  EXPECT_EQ(with(3, 3), Nfs4Status::kSeqMisordered);
  EXPECT_EQ(with(0, 3), Nfs4Status::kSeqMisordered);
  EXPECT_EQ(with(2, 3), Nfs4Status::kOk);
  EXPECT_EQ(with(1, 8), Nfs4Status::kBadSlot);
  EXPECT_EQ(c.send(Ops().op(53).fixed(c.session).u32(3).u32(3).u32(8).u32(1)).status, Nfs4Status::kBadHighSlot);
  EXPECT_EQ(with(0, 4), Nfs4Status::kSeqMisordered);
  EXPECT_EQ(c.send(Ops().sequence(Bytes(16), 1).putrootfh()).status, Nfs4Status::kBadSession);
}

TEST_F(SessionTest, ARetryGetsTheSameReplyAndDoesNothingTwice) {
  CompoundCaller c(port, "a");
  c.connect();
  const Bytes root = c.handle_of({"test"});
  Ops mkdir;
  mkdir.sequence(c.session, c.sequence).putfh(root).op(6).u32(2).string("made once").u32(0).u32(0);
  auto first = c.send(mkdir);
  ASSERT_TRUE(first.ok());
  auto retry = c.send(mkdir);
  ASSERT_TRUE(retry.ok());
  EXPECT_EQ(first.reply.results, retry.reply.results);
  // The same slot and number, but another request.
  EXPECT_EQ(c.send(Ops().sequence(c.session, c.sequence).putrootfh()).status, Nfs4Status::kSeqFalseRetry);
  ++c.sequence;
  Ops uncached;
  uncached.sequence(c.session, c.sequence, 0, false).putrootfh();
  EXPECT_TRUE(c.send(uncached).ok());
  EXPECT_EQ(c.send(uncached).status, Nfs4Status::kRetryUncachedRep);
}

TEST_F(SessionTest, SessionsAndClientsAreDestroyedInOrder) {
  CompoundCaller c(port, "a");
  c.connect();
  EXPECT_EQ(c.send(Ops().op(57).u64(c.client)).status, Nfs4Status::kClientIdBusy);
  EXPECT_EQ(c.call(Ops().op(44).fixed(c.session).putrootfh()).status, Nfs4Status::kNotOnlyOp);
  EXPECT_TRUE(c.call(Ops().op(44).fixed(c.session)).ok());
  EXPECT_EQ(c.send(Ops().op(44).fixed(c.session)).status, Nfs4Status::kBadSession);
  EXPECT_TRUE(c.send(Ops().op(57).u64(c.client)).ok());
  EXPECT_EQ(c.send(Ops().op(57).u64(c.client)).status, Nfs4Status::kStaleClientId);
}

TEST_F(SessionTest, ReclaimCompleteIsSaidOnce) {
  CompoundCaller c(port, "a");
  c.connect();
  EXPECT_EQ(c.call(Ops().op(58).u32(0)).status, Nfs4Status::kCompleteAlready);
}

TEST_F(SessionTest, DamagedArgumentsAreBadXdr) {
  CompoundCaller c(port, "a");
  c.connect();
  EXPECT_EQ(c.send(Ops().op(42).u64(1)).status, Nfs4Status::kBadXdr);
  EXPECT_EQ(c.send(Ops().op(43).u64(1)).status, Nfs4Status::kBadXdr);
  EXPECT_EQ(c.call(Ops().op(22)).status, Nfs4Status::kBadXdr);
}

}  // namespace
}  // namespace stoa::test
