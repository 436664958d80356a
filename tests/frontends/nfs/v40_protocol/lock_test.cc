// Lock-owners and their numbers: RFC 7530 9.1.7, 16.10 to 16.12, 16.37.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"

namespace stoa::test {
namespace {

class Lock40Test : public ProtocolTest {
 protected:
  Lock40Test() {
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

TEST_F(Lock40Test, ANewLockOwnerTakesTheTurnOfTheOpenOwner) {
  const auto first = a->lock_new(file.handle, file.stateid, 3, "l", 50, 0, 10);
  ASSERT_EQ(first.status, Nfs4Status::kOk);
  const auto retry = a->lock_new(file.handle, file.stateid, 3, "l", 50, 0, 10);
  EXPECT_EQ(retry.status, Nfs4Status::kOk);
  EXPECT_EQ(retry.stateid.seqid, first.stateid.seqid);
  EXPECT_EQ(a->lock(file.handle, first.stateid, 52, 20, 10).status, Nfs4Status::kBadSeqId);
  const auto second = a->lock(file.handle, first.stateid, 51, 20, 10);
  ASSERT_EQ(second.status, Nfs4Status::kOk);
  EXPECT_EQ(second.stateid.seqid, first.stateid.seqid + 1);
  EXPECT_EQ(a->lock(file.handle, first.stateid, 51, 20, 10).stateid.seqid, second.stateid.seqid);  // a retry
  const auto unlocked = a->unlock(file.handle, second.stateid, 52, 0, kToEnd);
  ASSERT_EQ(unlocked.status, Nfs4Status::kOk);
  EXPECT_EQ(a->unlock(file.handle, second.stateid, 52, 0, kToEnd).stateid.seqid, unlocked.stateid.seqid);
  EXPECT_EQ(a->unlock(file.handle, unlocked.stateid, 52, 0, kToEnd).status, Nfs4Status::kBadSeqId);
  // The open-owner went one further only.
  EXPECT_EQ(a->close(file.handle, file.stateid, 4).status, Nfs4Status::kOk);
}

TEST_F(Lock40Test, ARefusedLockCountsAndIsReplayedWithItsBody) {
  const auto theirs = b->open_confirmed(root, "f", 1);
  ASSERT_EQ(b->lock_new(theirs.handle, theirs.stateid, 3, "holder", 1, 5, 7).status, Nfs4Status::kOk);
  Ops lock;
  lock.putfh(file.handle)
      .op(12)
      .u32(2)
      .u32(0)
      .u64(0)
      .u64(kToEnd)
      .u32(1)
      .u32(3)
      .stateid(file.stateid)
      .u32(1)
      .u64(a->client);
  lock.string("l");
  auto first = a->send(lock);
  ASSERT_EQ(first.status, Nfs4Status::kDenied);
  auto retry = a->send(lock);
  EXPECT_EQ(first.reply.results, retry.reply.results);
  retry.next(22);
  EXPECT_EQ(retry.next(12), Nfs4Status::kDenied);
  EXPECT_EQ(retry.in.u64(), 5u);
  EXPECT_EQ(retry.in.u64(), 7u);
  EXPECT_EQ(retry.in.u32(), 2u);
  EXPECT_EQ(retry.in.u64(), b->client);
  EXPECT_EQ(retry.in.string(64), "holder");
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 5).status, Nfs4Status::kBadSeqId);
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 4, "l", 2, 0, 5).status, Nfs4Status::kOk);
}

// 9.4: a client that polls for a blocking lock gets its turn.
TEST_F(Lock40Test, WhoAsksForABlockingLockKeepsItsTurn) {
  const auto theirs = b->open_confirmed(root, "f", 1);
  const auto locks = b->lock_new(theirs.handle, theirs.stateid, 3, "holder", 1, 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  const auto ask = [&](Caller40& who, const Caller40::Open& open, std::uint32_t open_seqid, std::string_view owner,
                       std::uint32_t seqid, std::uint32_t type) {
    Ops lock;
    lock.putfh(open.handle).op(12).u32(type).u32(0).u64(0).u64(10).u32(1).u32(open_seqid).stateid(open.stateid);
    return who.send(lock.u32(seqid).u64(who.client).string(owner)).status;
  };
  constexpr std::uint32_t kWriteWait = 4, kReadWait = 3;
  EXPECT_EQ(ask(*a, file, 3, "first", 1, kWriteWait), Nfs4Status::kDenied);
  EXPECT_EQ(b->unlock(theirs.handle, locks.stateid, 2, 0, 10).status, Nfs4Status::kOk);
  EXPECT_EQ(ask(*b, theirs, 4, "again", 1, kReadWait), Nfs4Status::kDenied);
  EXPECT_EQ(ask(*a, file, 4, "first", 2, kWriteWait), Nfs4Status::kOk);
}

TEST_F(Lock40Test, ALockOwnerCountsOverAllItsFiles) {
  const auto other = a->open(root, "g", 3);
  ASSERT_EQ(a->lock_new(file.handle, file.stateid, 4, "l", 1, 0, 10).status, Nfs4Status::kOk);
  EXPECT_EQ(a->lock_new(other.handle, other.stateid, 5, "l", 9, 0, 10).status, Nfs4Status::kBadSeqId);
  EXPECT_EQ(a->lock_new(other.handle, other.stateid, 5, "l", 2, 0, 10).status, Nfs4Status::kOk);
}

TEST_F(Lock40Test, ErrorsOfLocksCount) {
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 0).status, Nfs4Status::kInval);
  const auto mine = a->lock_new(file.handle, file.stateid, 4, "l", 2, 0, 10);
  ASSERT_EQ(mine.status, Nfs4Status::kOk);
  EXPECT_EQ(a->lock(file.handle, mine.stateid, 3, 5, 0).status, Nfs4Status::kInval);
  EXPECT_EQ(a->lock(file.handle, file.stateid, 5, 5, 1).status, Nfs4Status::kBadStateId);  // no stateid of locks
  EXPECT_EQ(a->unlock(file.handle, file.stateid, 5, 5, 1).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->lock(file.handle, mine.stateid, 4, 5, 10).status, Nfs4Status::kOk);
}

TEST_F(Lock40Test, ALockOwnerIsReleasedWhenItHoldsNothing) {
  EXPECT_EQ(a->release("unknown"), Nfs4Status::kOk);
  const auto mine = a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10);
  EXPECT_EQ(a->release("l"), Nfs4Status::kLocksHeld);
  const auto unlocked = a->unlock(file.handle, mine.stateid, 2, 0, 10);
  ASSERT_EQ(unlocked.status, Nfs4Status::kOk);
  EXPECT_EQ(a->release("l"), Nfs4Status::kOk);
  EXPECT_EQ(a->lock(file.handle, unlocked.stateid, 3, 0, 1).status, Nfs4Status::kBadStateId);
  EXPECT_EQ(a->lock_new(file.handle, file.stateid, 4, "l", 900, 0, 1).status, Nfs4Status::kOk);  // begins anew
}

TEST_F(Lock40Test, LocksAreTestedAndConflictWithLaterMinorVersions) {
  ASSERT_EQ(a->lock_new(file.handle, file.stateid, 3, "l", 1, 0, 10).status, Nfs4Status::kOk);
  const auto test = [&](Caller40& who, std::uint64_t offset, std::string_view owner) {
    return who.send(Ops().putfh(file.handle).op(13).u32(2).u64(offset).u64(1).u64(who.client).string(owner)).status;
  };
  EXPECT_EQ(test(*b, 9, "l"), Nfs4Status::kDenied);
  EXPECT_EQ(test(*b, 10, "l"), Nfs4Status::kOk);
  EXPECT_EQ(test(*a, 9, "l"), Nfs4Status::kOk);
  EXPECT_EQ(test(*a, 9, "m"), Nfs4Status::kDenied);
  CompoundCaller later(port, "a");
  later.connect();
  const auto theirs = later.open(root, "f", 3);
  EXPECT_EQ(later.lock(theirs.handle, theirs.stateid, "l", 0, 1).status, Nfs4Status::kDenied);
  ASSERT_EQ(a->close(file.handle, file.stateid, 4).status, Nfs4Status::kOk);
  EXPECT_EQ(later.lock(theirs.handle, theirs.stateid, "l", 0, 1).status, Nfs4Status::kOk);
}

}  // namespace
}  // namespace stoa::test
