// Open-owners, their numbers and stateids: RFC 7530 9.1.4, 9.1.7 to 9.1.11, 16.16, 16.18, 16.19, 16.2.
#include <thread>

#include "frontends/nfs/v4/state_owner.h"
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"

namespace stoa::test {
namespace {

class Open40Test : public ProtocolTest {
 protected:
  Open40Test() {
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<Caller40>(port, "a");
    b = std::make_unique<Caller40>(port, "b");
    a->connect();
    b->connect();
    root = a->handle_of({"test"});
  }
  std::unique_ptr<Caller40> a, b;
  Bytes root;
};

TEST_F(Open40Test, ANewOwnerMustConfirmOnce) {
  const auto file = a->open(root, "f", 10);
  ASSERT_EQ(file.status, Nfs4Status::kOk);
  EXPECT_TRUE(file.must_confirm());
  EXPECT_EQ(file.stateid.seqid, 1u);
  EXPECT_EQ(a->write(file.handle, file.stateid, "x"), Nfs4Status::kBadStateId);
  EXPECT_EQ(a->close(file.handle, file.stateid, 11).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 11, "l", 1, 0, 1).status, Nfs4Status::kBadStateId);
  const auto confirmed = a->open_confirm(file.handle, file.stateid, 11);
  ASSERT_EQ(confirmed.status, Nfs4Status::kOk);
  EXPECT_EQ(confirmed.stateid.seqid, 2u);
  EXPECT_EQ(confirmed.stateid.other, file.stateid.other);
  EXPECT_EQ(a->write(file.handle, confirmed.stateid, "x"), Nfs4Status::kOk);
  EXPECT_EQ(a->open_confirm(file.handle, confirmed.stateid, 12).status, Nfs4Status::kBadStateId);
  const auto second = a->open(root, "g", 12);
  ASSERT_EQ(second.status, Nfs4Status::kOk);
  EXPECT_FALSE(second.must_confirm());
  // The owner is kept when it has nothing open any more.
  EXPECT_EQ(a->close(file.handle, confirmed.stateid, 13).status, Nfs4Status::kOk);
  EXPECT_EQ(a->close(second.handle, second.stateid, 14).status, Nfs4Status::kOk);
  EXPECT_FALSE(a->open(root, "f", 15).must_confirm());
}

TEST_F(Open40Test, WhatWasNotConfirmedGivesWayToTheNextOpen) {
  const auto first = a->open(root, "f", 1, {.deny = kOpenWrite});
  ASSERT_EQ(first.status, Nfs4Status::kOk);
  const auto second = a->open(root, "g", 77);  // any number: this owner is unknown
  ASSERT_EQ(second.status, Nfs4Status::kOk);
  EXPECT_TRUE(second.must_confirm());
  EXPECT_EQ(a->open_confirm(first.handle, first.stateid, 78).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(b->open(root, "f", 1).status, Nfs4Status::kOk);
  EXPECT_EQ(a->open_confirm(second.handle, second.stateid, 78).status, Nfs4Status::kOk);
}

TEST_F(Open40Test, ARetryGetsTheSameReplyAndTheNumberCountsOnce) {
  a->open_confirmed(root, "other", 1);
  const Ops create = a->open_ops(root, "f", 3, {.guarded = true});
  auto first = a->send(create);
  ASSERT_TRUE(first.ok());
  auto retry = a->send(create);  // as another call: the duplicate request cache does not know it
  ASSERT_TRUE(retry.ok());
  EXPECT_EQ(first.reply.results, retry.reply.results);             // with the filehandle of the file
  EXPECT_EQ(a->open(root, "g", 3).status, Nfs4Status::kBadSeqId);  // the last number, and another request
  EXPECT_EQ(a->open(root, "g", 5).status, Nfs4Status::kBadSeqId);
  EXPECT_EQ(a->open(root, "g", 2).status, Nfs4Status::kBadSeqId);
  EXPECT_EQ(a->open(root, "g", 4).status, Nfs4Status::kOk);
}

TEST_F(Open40Test, ARequestAndItsRetrySideBySideAreRunOnce) {
  a->open_confirmed(root, "other", 1);
  Caller40 second_way(port, "a");  // another connection of the same client
  second_way.client = a->client;
  for (std::uint32_t round = 0; round < 50; ++round) {
    const Ops create = a->open_ops(root, "f" + std::to_string(round), 3 + round, {.guarded = true});
    Caller40::Open one, two;
    const auto run = [&](Caller40& caller, Caller40::Open& into) {
      auto result = caller.send(create);
      into = Caller40::read_open(result);
    };
    {
      const std::jthread other([&] { run(second_way, two); });
      run(*a, one);
    }
    ASSERT_EQ(one.status, Nfs4Status::kOk);
    ASSERT_EQ(two.status, Nfs4Status::kOk);
    EXPECT_EQ(one.stateid.other, two.stateid.other);
    EXPECT_EQ(one.stateid.seqid, two.stateid.seqid);
  }
}

TEST_F(Open40Test, ErrorsCountButForThoseOfTheList) {
  const auto file = a->open_confirmed(root, "f", 1);
  EXPECT_EQ(a->open(root, "absent", 3, {.create = false}).status, Nfs4Status::kNoEnt);
  EXPECT_EQ(a->open(root, "absent", 3, {.create = false}).status, Nfs4Status::kNoEnt);  // replayed
  EXPECT_EQ(a->open(root, "", 4).status, Nfs4Status::kInval);
  EXPECT_EQ(a->open(root, "f", 5, {.access = 0}).status, Nfs4Status::kInval);
  EXPECT_EQ(a->open(root, "f", 6, {.guarded = true}).status, Nfs4Status::kExist);
  EXPECT_EQ(a->downgrade(file.handle, file.stateid, 7, 0).status, Nfs4Status::kInval);
  WireStateid old = file.stateid;
  old.seqid = 1;
  EXPECT_EQ(a->close(file.handle, old, 8).status, Nfs4Status::kOldStateId);
  WireStateid future = file.stateid;
  future.seqid = 9;
  EXPECT_EQ(a->close(file.handle, future, 9).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->close(root, file.stateid, 9).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->send(Ops().op(4).u32(9).stateid(file.stateid)).status, Nfs4Status::kNoFileHandle);
  EXPECT_EQ(a->send(Ops().putfh(file.handle).op(4).u32(9)).status, Nfs4Status::kBadXdr);
  EXPECT_EQ(a->close(file.handle, file.stateid, 8).status, Nfs4Status::kBadSeqId);
  EXPECT_EQ(a->close(file.handle, file.stateid, 9).status, Nfs4Status::kOk);
}

TEST_F(Open40Test, ACloseIsRepeatedUntilTheOwnerGoesOn) {
  const auto file = a->open_confirmed(root, "f", 1);
  const auto closed = a->close(file.handle, file.stateid, 3);
  ASSERT_EQ(closed.status, Nfs4Status::kOk);
  EXPECT_EQ(closed.stateid.other, file.stateid.other);
  EXPECT_EQ(closed.stateid.seqid, file.stateid.seqid + 1);
  const auto again = a->close(file.handle, file.stateid, 3);
  EXPECT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_EQ(again.stateid.seqid, closed.stateid.seqid);
  EXPECT_EQ(a->close(file.handle, file.stateid, 4).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->open(root, "g", 4).status, Nfs4Status::kOk);
  EXPECT_EQ(a->close(file.handle, file.stateid, 3).status, Nfs4Status::kBadStateId);
}

TEST_F(Open40Test, OpensOfOneOwnerAddUpAndGoDownAgain) {
  const auto first = a->open_confirmed(root, "f", 1, {.access = kOpenRead});
  const auto second = a->open(root, "f", 3, {.access = kOpenWrite});
  ASSERT_EQ(second.status, Nfs4Status::kOk);
  EXPECT_EQ(second.stateid.other, first.stateid.other);
  EXPECT_EQ(second.stateid.seqid, first.stateid.seqid + 1);
  EXPECT_EQ(a->write(first.handle, second.stateid, "x"), Nfs4Status::kOk);
  const auto down = a->downgrade(first.handle, second.stateid, 4, kOpenRead);
  ASSERT_EQ(down.status, Nfs4Status::kOk);
  EXPECT_EQ(a->downgrade(first.handle, second.stateid, 4, kOpenRead).stateid.seqid, down.stateid.seqid);  // a retry
  EXPECT_EQ(a->write(first.handle, down.stateid, "x"), Nfs4Status::kOpenMode);
  EXPECT_EQ(a->downgrade(first.handle, down.stateid, 5, kOpenBoth).status, Nfs4Status::kInval);
}

TEST_F(Open40Test, StateidsAreCheckedToTheLetter) {
  const auto file = a->open_confirmed(root, "f", 1);
  const auto with = [&](std::uint32_t seqid) {
    WireStateid changed = file.stateid;
    changed.seqid = seqid;
    return a->write(file.handle, changed, "x");
  };
  EXPECT_EQ(with(2), Nfs4Status::kOk);
  EXPECT_EQ(with(1), Nfs4Status::kOldStateId);
  EXPECT_EQ(with(0), Nfs4Status::kOldStateId);  // no "newest seqid" before sessions
  EXPECT_EQ(with(3), Nfs4Status::kBadStateId);
  WireStateid other_run = file.stateid;
  other_run.other[0] ^= std::byte{0xff};
  EXPECT_EQ(a->write(file.handle, other_run, "x"), Nfs4Status::kStaleStateId);
  EXPECT_EQ(a->close(file.handle, other_run, 3).status, Nfs4Status::kStaleStateId);
  EXPECT_EQ(a->open_confirm(file.handle, other_run, 3).status, Nfs4Status::kStaleStateId);
  WireStateid unknown = file.stateid;
  unknown.other[11] ^= std::byte{0x55};
  EXPECT_EQ(a->write(file.handle, unknown, "x"), Nfs4Status::kBadStateId);
  const WireStateid zeros{}, ones{.seqid = ~0u, .other = Bytes(12, std::byte{0xff})};
  EXPECT_EQ(a->write(file.handle, zeros, "x"), Nfs4Status::kOk);
  EXPECT_EQ(a->write(file.handle, ones, "x"), Nfs4Status::kOk);
  EXPECT_EQ(a->close(file.handle, zeros, 3).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->close(file.handle, ones, 3).status, Nfs4Status::kBadStateId);
  const WireStateid current{.seqid = 1, .other = Bytes(12)};
  EXPECT_EQ(a->write(file.handle, current, "x"), Nfs4Status::kBadStateId);
  EXPECT_EQ(a->send(Ops().putfh(file.handle).op(8).stateid(file.stateid)).status,
            Nfs4Status::kBadStateId);  // DELEGRETURN
}

TEST_F(Open40Test, WhatLaterMinorVersionsBroughtIsNotThere) {
  EXPECT_EQ(a->open(root, "f", 1, {.access = kOpenBoth | 0x100}).status, Nfs4Status::kInval);
  const auto with_claim = [&](std::uint32_t claim) {
    return a
        ->send(Ops().putfh(root).op(18).u32(2).u32(kOpenBoth).u32(0).u64(a->client).string("owner").u32(0).u32(claim))
        .status;
  };
  for (const std::uint32_t claim : {4u, 5u, 6u}) EXPECT_EQ(with_claim(claim), Nfs4Status::kBadXdr);
  Ops exclusive41;
  exclusive41.putfh(root)
      .op(18)
      .u32(2)
      .u32(kOpenBoth)
      .u32(0)
      .u64(a->client)
      .string("owner")
      .u32(1)
      .u32(3)
      .u64(9)
      .u32(0)
      .u32(0);
  EXPECT_EQ(a->send(exclusive41.u32(0).string("f")).status, Nfs4Status::kBadXdr);
  // NFS4ERR_WRONG_TYPE is none of its errors (16.16.5).
  for (const std::uint32_t type : {3u, 4u, 6u, 7u}) {
    Ops make;
    make.putfh(root).op(6).u32(type);
    if (type < 5) make.u32(1).u32(2);
    const std::string name = "special " + std::to_string(type);
    ASSERT_TRUE(a->send(make.string(name).u32(0).u32(0)).ok());
    EXPECT_EQ(a->open(root, name, 2, {.create = false}).status, Nfs4Status::kSymlink) << type;
  }
}

TEST_F(Open40Test, ExclusiveCreationIsRepeatable) {
  const auto exclusive = [&](std::uint32_t seqid, std::uint64_t verifier) {
    Ops ops;
    ops.putfh(root).op(18).u32(seqid).u32(kOpenBoth).u32(0).u64(a->client).string("owner").u32(1).u32(2).u64(verifier);
    auto result = a->send(ops.u32(0).string("f").getfh());
    return Caller40::read_open(result);
  };
  const auto first = exclusive(1, 42);
  ASSERT_EQ(first.status, Nfs4Status::kOk);
  ASSERT_EQ(a->open_confirm(first.handle, first.stateid, 2).status, Nfs4Status::kOk);
  EXPECT_EQ(exclusive(3, 42).handle, first.handle);
  EXPECT_EQ(exclusive(4, 43).status, Nfs4Status::kExist);
}

TEST_F(Open40Test, SharesAreDeniedAcrossClientsAndMinorVersions) {
  const auto file = a->open_confirmed(root, "f", 1, {.access = kOpenRead, .deny = kOpenWrite});
  EXPECT_EQ(b->open(root, "f", 1, {.access = kOpenWrite}).status, Nfs4Status::kShareDenied);
  CompoundCaller later(port, "c");
  later.connect();
  EXPECT_EQ(later.open(root, "f", kOpenWrite).status, Nfs4Status::kShareDenied);
  ASSERT_EQ(a->close(file.handle, file.stateid, 3).status, Nfs4Status::kOk);
  EXPECT_EQ(later.open(root, "f", kOpenWrite).status, Nfs4Status::kOk);
}

// 9.9, 16.16.5, 16.23.4, 16.36.4.
TEST_F(Open40Test, SharesAreDeniedAmongTheOwnersOfOneClient) {
  const WireStateid zeros{}, ones{.seqid = ~0u, .other = Bytes(12, std::byte{0xff})};
  const auto read = [&](const Bytes& handle, const WireStateid& stateid) {
    return a->send(Ops().putfh(handle).op(25).stateid(stateid).u64(0).u32(4)).status;
  };
  const auto first = a->open_confirmed(root, "f", 1, {.access = kOpenBoth, .deny = kOpenWrite, .owner = "one"});
  ASSERT_EQ(first.status, Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "f", 1, {.access = kOpenWrite, .create = false, .owner = "two"}).status,
            Nfs4Status::kShareDenied);
  EXPECT_EQ(a->open(root, "f", 3, {.access = kOpenWrite, .create = false, .owner = "one"}).status,
            Nfs4Status::kShareDenied);
  EXPECT_EQ(a->write(first.handle, first.stateid, "text"), Nfs4Status::kOk);
  EXPECT_EQ(a->write(first.handle, zeros, "x"), Nfs4Status::kLocked);
  EXPECT_EQ(a->write(first.handle, ones, "x"), Nfs4Status::kLocked);
  EXPECT_EQ(read(first.handle, zeros), Nfs4Status::kOk);
  ASSERT_EQ(a->close(first.handle, first.stateid, 4).status, Nfs4Status::kOk);

  const auto denies = a->open(root, "f", 5, {.access = kOpenBoth, .deny = kOpenRead, .owner = "one"});
  ASSERT_EQ(denies.status, Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "f", 1, {.access = kOpenRead, .create = false, .owner = "three"}).status,
            Nfs4Status::kShareDenied);
  EXPECT_EQ(a->open(root, "f", 6, {.access = kOpenRead, .create = false, .owner = "one"}).status,
            Nfs4Status::kShareDenied);
  EXPECT_EQ(read(denies.handle, zeros), Nfs4Status::kLocked);
  EXPECT_EQ(read(denies.handle, ones), Nfs4Status::kOk);
  EXPECT_EQ(read(denies.handle, denies.stateid), Nfs4Status::kOk);
  const auto writer = a->open_confirmed(root, "f", 1, {.access = kOpenWrite, .create = false, .owner = "four"});
  ASSERT_EQ(writer.status, Nfs4Status::kOk);
  EXPECT_EQ(a->write(writer.handle, writer.stateid, "more"), Nfs4Status::kOk);
  EXPECT_EQ(read(writer.handle, writer.stateid), Nfs4Status::kLocked);
}

TEST_F(Open40Test, IdleOwnersAreForgottenInTheirOrder) {
  const auto use = [&](const std::string& owner) {
    const auto file = a->open(root, "f", 1, {.owner = owner});
    EXPECT_TRUE(file.must_confirm());
    const auto confirmed = a->open_confirm(file.handle, file.stateid, 2);
    EXPECT_EQ(a->close(file.handle, confirmed.stateid, 3).status, Nfs4Status::kOk);
  };
  for (int i = 0; i < 257; ++i) use("owner " + std::to_string(i));
  EXPECT_FALSE(a->open(root, "f", 4, {.owner = "owner 256"}).must_confirm());
  EXPECT_FALSE(a->open(root, "f", 4, {.owner = "owner 1"}).must_confirm());
  EXPECT_TRUE(a->open(root, "f", 4, {.owner = "owner 0"}).must_confirm());
}

TEST(OwnerTurns, AreWaitedForUntilTheDeadline) {
  nfs4::Turns turns;
  const Deadline passed{Deadline::Clock::now()};
  EXPECT_TRUE(turns.take(passed)) << "it is free";
  EXPECT_FALSE(turns.take(passed));
  std::thread other([&] {
    EXPECT_TRUE(turns.take({}));
    turns.end();
  });
  turns.end();
  other.join();
  EXPECT_TRUE(turns.take(passed));
}

TEST_F(Open40Test, ALongReadBehindAnOpenIsWhole) {
  const auto file = a->open_confirmed(root, "f", 1);
  const std::string text(200'000, 'x');
  ASSERT_EQ(a->write(file.handle, file.stateid, text), Nfs4Status::kOk);
  Ops ops = a->open_ops(root, "f", 3, {});
  ops.op(25).stateid(WireStateid{}).u64(0).u32(200'000);
  auto result = a->send(ops);
  ASSERT_TRUE(result.ok());
  Caller40::read_open(result);
  ASSERT_EQ(result.next(25), Nfs4Status::kOk);
  EXPECT_TRUE(result.in.boolean());
  EXPECT_TRUE(result.in.string(200'000) == text);
  EXPECT_EQ(a->renew(a->client), Nfs4Status::kOk);  // the connection is well
}

}  // namespace
}  // namespace stoa::test
