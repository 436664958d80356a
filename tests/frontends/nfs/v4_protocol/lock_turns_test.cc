// Blocking locks: clients ask again and again, in turn, and are called when it is theirs (RFC 8881 9.6, 18.10, 20.11).
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kMayNotifyLock = 0x20;

class LockTurns : public ProtocolTest {
 protected:
  struct Member {
    std::unique_ptr<CompoundCaller> caller;
    CompoundCaller::Open open{};
    WireStateid locks{};
  };
  LockTurns() {
    publish("test", {anyone()});
    start_protocol();
    a = member("a");
    b = member("b");
    c = member("c");
  }
  Member member(const std::string& name, bool back_channel = true) {
    Member made{std::make_unique<CompoundCaller>(port, name)};
    made.caller->back_channel = back_channel;
    made.caller->connect();
    made.open = made.caller->open(made.caller->handle_of({"test"}), "f", 3);
    EXPECT_EQ(made.open.status, Nfs4Status::kOk);
    return made;
  }
  static Nfs4Status lock(Member& who, bool waits = true) {
    const auto got = who.caller->lock(who.open.handle, who.open.stateid, "l", 0, 10, true, false, waits);
    if (got.status == Nfs4Status::kOk) who.locks = got.stateid;
    return got.status;
  }
  static void unlock(Member& who) { EXPECT_EQ(who.caller->unlock(who.open.handle, who.locks, 0, 10), Nfs4Status::kOk); }
  static void expect_called(Member& who) {
    const WireLockNotice notice = who.caller->take_lock_notice();
    EXPECT_EQ(notice.handle, who.open.handle);
    EXPECT_EQ(notice.client, who.caller->client);
    EXPECT_EQ(notice.owner, "l");
  }
  Member a, b, c;
};

TEST_F(LockTurns, WhoCanBeCalledIsToldSoByOpen) {
  EXPECT_NE(a.open.flags & kMayNotifyLock, 0u);
  EXPECT_EQ(member("d", false).open.flags & kMayNotifyLock, 0u);
}

TEST_F(LockTurns, WhoAskedFirstIsCalledAndNobodyWhoAsksPasses) {
  EXPECT_EQ(lock(a), Nfs4Status::kOk);
  EXPECT_EQ(lock(b), Nfs4Status::kDenied);
  EXPECT_EQ(lock(c), Nfs4Status::kDenied);
  unlock(a);
  expect_called(b);
  EXPECT_EQ(lock(a), Nfs4Status::kDenied);
  EXPECT_EQ(lock(c), Nfs4Status::kDenied);
  EXPECT_EQ(lock(b), Nfs4Status::kOk);
  unlock(b);
  expect_called(c);
  EXPECT_EQ(lock(c), Nfs4Status::kOk);
  unlock(c);
  expect_called(a);
  EXPECT_FALSE(b.caller->lock_noticed() || c.caller->lock_noticed());
}

TEST_F(LockTurns, ATurnIsNamedLikeALock) {
  EXPECT_EQ(lock(a), Nfs4Status::kOk);
  EXPECT_EQ(lock(b), Nfs4Status::kDenied);
  unlock(a);
  Ops ops;
  ops.putfh(c.open.handle).op(12).u32(4).u32(0).u64(5).u64(20).u32(1).u32(0);
  ops.stateid(c.open.stateid).u32(0).u64(c.caller->client).string("l");
  auto denied = c.caller->call(ops);
  ASSERT_EQ(denied.status, Nfs4Status::kDenied);
  denied.skip_sequence();
  denied.next(22);
  denied.next(12);
  EXPECT_EQ(denied.in.u64(), 0u);
  EXPECT_EQ(denied.in.u64(), 10u);
  EXPECT_EQ(denied.in.u32(), 2u);
  EXPECT_EQ(denied.in.u64(), b.caller->client);
  EXPECT_EQ(denied.in.string(64), "l");
}

TEST_F(LockTurns, WhoDoesNotMeanToWaitTakesWhatIsFreeAndIsNotCalled) {
  EXPECT_EQ(lock(a), Nfs4Status::kOk);
  EXPECT_EQ(lock(b), Nfs4Status::kDenied);
  EXPECT_EQ(lock(c, false), Nfs4Status::kDenied);
  unlock(a);
  expect_called(b);
  EXPECT_EQ(lock(c, false), Nfs4Status::kOk);
  EXPECT_EQ(lock(b), Nfs4Status::kDenied);
  unlock(c);
  expect_called(b);
  EXPECT_FALSE(c.caller->lock_noticed());
}

TEST_F(LockTurns, WhoCannotBeCalledHasItsTurnToo) {
  Member d = member("d", false);
  EXPECT_EQ(lock(a), Nfs4Status::kOk);
  EXPECT_EQ(lock(d), Nfs4Status::kDenied);
  EXPECT_EQ(lock(b), Nfs4Status::kDenied);
  unlock(a);
  EXPECT_EQ(lock(b), Nfs4Status::kDenied);
  EXPECT_EQ(lock(d), Nfs4Status::kOk);
  unlock(d);
  expect_called(b);
}

TEST_F(LockTurns, TheTurnPassesWhenItsClientGoes) {
  EXPECT_EQ(lock(a), Nfs4Status::kOk);
  EXPECT_EQ(lock(b), Nfs4Status::kDenied);
  EXPECT_EQ(lock(c), Nfs4Status::kDenied);
  unlock(a);
  // A new incarnation of b: the old one ends with all that it has.
  CompoundCaller anew(port, "b", 2);
  anew.connect();
  expect_called(c);
  EXPECT_EQ(lock(c), Nfs4Status::kOk);
}

}  // namespace
}  // namespace stoa::test
