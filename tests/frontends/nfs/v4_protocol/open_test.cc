// OPEN, CLOSE, OPEN_DOWNGRADE, LOCK and stateids: RFC 8881 18.16, 18.2, 18.18, 18.10 to 18.12, 8.2.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

class OpenTest : public ProtocolTest {
 protected:
  OpenTest() {
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    b = std::make_unique<CompoundCaller>(port, "b");
    a->connect();
    b->connect();
    root = a->handle_of({"test"});
  }
  std::unique_ptr<CompoundCaller> a, b;
  Bytes root;
};

TEST_F(OpenTest, WhatIsWrittenIsReadByOthers) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(file.status, Nfs4Status::kOk);
  ASSERT_EQ(a->write(file.handle, file.stateid, "hello"), Nfs4Status::kOk);
  const auto other = b->open(root, "f", kOpenRead, 0, false);
  ASSERT_EQ(other.status, Nfs4Status::kOk);
  EXPECT_EQ(other.handle, file.handle);
  EXPECT_EQ(b->read(other.handle, other.stateid), "hello");
  EXPECT_EQ(b->write(other.handle, other.stateid, "no"), Nfs4Status::kOpenMode);
  EXPECT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kOk);
  EXPECT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kBadStateId);
  EXPECT_EQ(a->write(file.handle, file.stateid, "no"), Nfs4Status::kBadStateId);
}

TEST_F(OpenTest, WhatAQuotaRefusesToCreateIsNotThere) {
  const auto dir = volume->ns().lookup({}, {.parent = core::kRootId, .name = "test", .root = core::kRootId});
  ASSERT_TRUE(dir);
  constexpr std::uint32_t kSizeBit = 1u << 4;
  const auto create = [&](std::uint32_t how, std::uint64_t size) {
    return a
        ->call(Ops()
                   .putfh(root)
                   .op(18)
                   .u32(0)
                   .u32(kOpenBoth)
                   .u32(0)
                   .u64(a->client)
                   .string("owner")
                   .u32(1)
                   .u32(how)
                   .u32(1)
                   .u32(kSizeBit)
                   .u32(8)
                   .u64(size)
                   .u32(0)
                   .string("f"))
        .status;
  };
  for (const core::QuotaLimits& limits : {core::QuotaLimits{.bytes = 100}, core::QuotaLimits{.files = 0}}) {
    ASSERT_TRUE(volume->ns().set_quota({}, {dir->attr.id, limits}));
    for (const std::uint32_t how : {0u, 1u}) {
      EXPECT_EQ(create(how, 101), Nfs4Status::kDQuot);
      EXPECT_EQ(a->call(Ops().putfh(root).lookup("f")).status, Nfs4Status::kNoEnt);
    }
  }
  ASSERT_TRUE(volume->ns().set_quota({}, {dir->attr.id, {.bytes = 100}}));
  EXPECT_EQ(create(1, 100), Nfs4Status::kOk);
}

// Its size is unchanged, and all of it counts, until the client closes it.
TEST_F(OpenTest, WhatIsRemovedWhileOpenKeepsAFullQuotaFull) {
  const auto dir = volume->ns().lookup({}, {.parent = core::kRootId, .name = "test", .root = core::kRootId});
  ASSERT_TRUE(dir);
  ASSERT_TRUE(volume->ns().set_quota({}, {dir->attr.id, {.bytes = 100}}));
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->write(file.handle, file.stateid, std::string(100, 'x')), Nfs4Status::kOk);
  ASSERT_TRUE(b->call(Ops().putfh(root).op(28).string("f")).ok());
  EXPECT_EQ(a->write(file.handle, file.stateid, std::string(101, 'x')), Nfs4Status::kDQuot);
  const auto other = b->open(root, "g", kOpenBoth);
  EXPECT_EQ(b->write(other.handle, other.stateid, "x"), Nfs4Status::kDQuot);
  EXPECT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kOk);
  EXPECT_EQ(b->write(other.handle, other.stateid, std::string(100, 'x')), Nfs4Status::kOk);
}

TEST_F(OpenTest, NothingIsOpenedBeforeReclaimComplete) {
  CompoundCaller c(port, "c");
  c.connect(false);
  EXPECT_EQ(c.open(root, "f", kOpenBoth).status, Nfs4Status::kGrace);
}

TEST_F(OpenTest, ShareReservationsHoldBetweenClients) {
  const auto file = a->open(root, "f", kOpenRead, kOpenWrite);
  ASSERT_EQ(file.status, Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "f", kOpenWrite).status, Nfs4Status::kShareDenied);
  EXPECT_EQ(b->open(root, "f", kOpenRead, kOpenRead).status, Nfs4Status::kShareDenied);
  EXPECT_EQ(a->open(root, "f", kOpenWrite, 0, true, "another owner").status, Nfs4Status::kShareDenied);
  EXPECT_EQ(b->open(root, "f", kOpenRead).status, Nfs4Status::kOk);
  ASSERT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "f", kOpenWrite).status, Nfs4Status::kOk);
}

// RFC 8881 9.7, 9.1.2, 8.2.3; RFC 7530 9.9, 9.1.6, 9.1.4.3.
TEST_F(OpenTest, ShareReservationsHoldForTheOwnerItselfAndForEveryIo) {
  const WireStateid zeros{}, ones{.seqid = ~0u, .other = Bytes(12, std::byte{0xff})};
  const auto size = [&](CompoundCaller& c, const Bytes& handle, const WireStateid& stateid) {
    return c.call(Ops().putfh(handle).op(34).stateid(stateid).u32(1).u32(1u << 4).u32(8).u64(2)).status;
  };
  const auto read = [&](CompoundCaller& c, const Bytes& handle, const WireStateid& stateid) {
    return c.call(Ops().putfh(handle).op(25).stateid(stateid).u64(0).u32(4)).status;
  };
  const auto writer = a->open(root, "f", kOpenBoth, kOpenWrite);
  ASSERT_EQ(writer.status, Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "f", kOpenWrite).status, Nfs4Status::kShareDenied);
  EXPECT_EQ(a->open(root, "f", kOpenRead, kOpenRead).status, Nfs4Status::kShareDenied);
  EXPECT_EQ(a->write(writer.handle, writer.stateid, "text"), Nfs4Status::kOk);
  for (CompoundCaller* const c : {a.get(), b.get()}) {
    for (const WireStateid& special : {zeros, ones}) {
      EXPECT_EQ(c->write(writer.handle, special, "x"), Nfs4Status::kLocked);
      EXPECT_EQ(size(*c, writer.handle, special), Nfs4Status::kLocked);
      EXPECT_EQ(read(*c, writer.handle, special), Nfs4Status::kOk);
    }
  }
  EXPECT_EQ(size(*a, writer.handle, writer.stateid), Nfs4Status::kOk);
  // An open for reading cuts the file: that is writing.
  EXPECT_EQ(b->call(Ops()
                        .putfh(root)
                        .op(18)
                        .u32(0)
                        .u32(kOpenRead)
                        .u32(0)
                        .u64(b->client)
                        .string("owner")
                        .u32(1)
                        .u32(0)
                        .u32(1)
                        .u32(1u << 4)
                        .u32(8)
                        .u64(0)
                        .u32(0)
                        .string("f"))
                .status,
            Nfs4Status::kShareDenied);
  EXPECT_EQ(b->open(root, "f", kOpenWrite).status, Nfs4Status::kShareDenied) << "and leaves nothing open";
  ASSERT_EQ(a->close(writer.handle, writer.stateid), Nfs4Status::kOk);
  EXPECT_EQ(b->write(writer.handle, zeros, "x"), Nfs4Status::kOk);

  const auto reader = a->open(root, "f", kOpenRead, kOpenRead, true, "reader");
  ASSERT_EQ(reader.status, Nfs4Status::kOk);
  const auto other = b->open(root, "f", kOpenWrite);
  ASSERT_EQ(other.status, Nfs4Status::kOk);
  EXPECT_EQ(read(*b, other.handle, other.stateid), Nfs4Status::kLocked)
      << "an open for writing reads no further than that";
  EXPECT_EQ(read(*b, other.handle, zeros), Nfs4Status::kLocked);
  EXPECT_EQ(read(*b, other.handle, ones), Nfs4Status::kOk) << "READ bypass";
  EXPECT_EQ(read(*a, other.handle, reader.stateid), Nfs4Status::kOk);
  EXPECT_EQ(b->write(other.handle, other.stateid, "x"), Nfs4Status::kOk);
}

TEST_F(OpenTest, AnOwnersOpensAreOne) {
  const auto first = a->open(root, "f", kOpenRead);
  const auto second = a->open(root, "f", kOpenWrite);
  ASSERT_EQ(second.status, Nfs4Status::kOk);
  EXPECT_EQ(second.stateid.other, first.stateid.other);
  EXPECT_EQ(second.stateid.seqid, first.stateid.seqid + 1);
  EXPECT_EQ(a->write(first.handle, first.stateid, "x"), Nfs4Status::kOldStateId);
  EXPECT_EQ(a->write(first.handle, second.stateid, "x"), Nfs4Status::kOk);
  WireStateid newest = second.stateid;
  newest.seqid = 0;
  EXPECT_EQ(a->write(first.handle, newest, "x"), Nfs4Status::kOk);
  newest.seqid = 77;
  EXPECT_EQ(a->write(first.handle, newest, "x"), Nfs4Status::kBadStateId);
  // Down to the request of one of the two OPENs, and not to another mode.
  const auto downgrade = [&](std::uint32_t access, std::uint32_t deny) {
    WireStateid any = second.stateid;
    any.seqid = 0;
    return a->call(Ops().putfh(first.handle).op(21).stateid(any).u32(0).u32(access).u32(deny)).status;
  };
  EXPECT_EQ(downgrade(kOpenRead, kOpenRead), Nfs4Status::kInval);
  EXPECT_EQ(downgrade(0, 0), Nfs4Status::kInval);
  EXPECT_EQ(downgrade(kOpenRead, 0), Nfs4Status::kOk);
  newest.seqid = 0;
  EXPECT_EQ(a->write(first.handle, newest, "x"), Nfs4Status::kOpenMode);
  EXPECT_EQ(downgrade(kOpenBoth, 0), Nfs4Status::kInval);
}

TEST_F(OpenTest, AnOpenWhoseTruncationFailsAddsNothing) {
  const auto first = a->open(root, "f", kOpenWrite);
  ASSERT_EQ(first.status, Nfs4Status::kOk);
  ASSERT_EQ(a->write(first.handle, a->open(root, "f", kOpenWrite, 0, true, "writer").stateid, "content"),
            Nfs4Status::kOk);
  // Another protocol locks the content for all.
  const auto id = volume->handles().decode(first.handle)->id;
  core::StateTable& table = volume->state();
  const core::HolderId other = table.add_holder(core::Protocol::kSmb, nullptr);
  const auto open = table.open({id, other, core::kShareBoth, core::kShareNone});
  ASSERT_TRUE(open);
  const auto locked = table.lock_mandatory(*open, {0, 7}, true);
  ASSERT_TRUE(locked && !*locked);
  // UNCHECKED4 with size 0, by the owner that has the file open for writing.
  const auto truncate = [&] {
    return a
        ->call(Ops()
                   .putfh(root)
                   .op(18)
                   .u32(0)
                   .u32(kOpenRead)
                   .u32(kOpenRead)
                   .u64(a->client)
                   .string("owner")
                   .u32(1)
                   .u32(0)
                   .u32(1)
                   .u32(1u << 4)
                   .u32(8)
                   .u64(0)
                   .u32(0)
                   .string("f"))
        .status;
  };
  EXPECT_EQ(truncate(), Nfs4Status::kShareDenied) << "the other one reads";
  table.close(*open);
  const auto writer = table.open({id, other, core::kShareWrite, core::kShareNone});
  ASSERT_TRUE(writer);
  const auto again = table.lock_mandatory(*writer, {0, 7}, true);
  ASSERT_TRUE(again && !*again);
  EXPECT_EQ(truncate(), Nfs4Status::kShareDenied) << "OPEN has no LOCKED";
  EXPECT_EQ(a->write(first.handle, first.stateid, "x"), Nfs4Status::kLocked) << "the old stateid is good";
  EXPECT_EQ(b->open(root, "f", kOpenRead, 0, false).status, Nfs4Status::kOk) << "nothing is denied";
  table.remove_holder(other);
}

TEST_F(OpenTest, NamesThatCannotBeOpened) {
  ASSERT_TRUE(a->call(Ops().putfh(root).op(6).u32(2).string("dir").u32(0).u32(0)).ok());
  ASSERT_TRUE(a->call(Ops().putfh(root).op(6).u32(5).string("target").string("link").u32(0).u32(0)).ok());
  EXPECT_EQ(a->open(root, "dir", kOpenRead, 0, false).status, Nfs4Status::kIsDir);
  EXPECT_EQ(a->open(root, "link", kOpenRead, 0, false).status, Nfs4Status::kSymlink);
  EXPECT_EQ(a->open(root, "absent", kOpenRead, 0, false).status, Nfs4Status::kNoEnt);
  EXPECT_EQ(a->open(root, "", kOpenRead).status, Nfs4Status::kInval);
  EXPECT_EQ(a->open(root, std::string(256, 'x'), kOpenRead).status, Nfs4Status::kNameTooLong);
  EXPECT_EQ(a->open(root, "f", 0).status, Nfs4Status::kInval);
  EXPECT_EQ(a->open(root, "f", kOpenRead, 4).status, Nfs4Status::kInval);
}

TEST_F(OpenTest, LocksConflictBetweenOwnersAndClients) {
  const auto file = a->open(root, "f", kOpenBoth);
  const auto other = b->open(root, "f", kOpenBoth);
  auto mine = a->lock(file.handle, file.stateid, "l", 10, 10);
  ASSERT_EQ(mine.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(other.handle, other.stateid, "l", 15, 1).status, Nfs4Status::kDenied);
  EXPECT_EQ(a->lock(file.handle, file.stateid, "m", 15, 1).status, Nfs4Status::kDenied);
  EXPECT_EQ(b->lock(other.handle, other.stateid, "l", 20, ~std::uint64_t{0}).status, Nfs4Status::kOk);
  EXPECT_EQ(a->lock_again(file.handle, mine.stateid, 15, 100).status, Nfs4Status::kDenied);
  EXPECT_EQ(a->lock(file.handle, file.stateid, "l", 0, 0).status, Nfs4Status::kInval);
  EXPECT_EQ(a->lock(file.handle, file.stateid, "l", 2, ~std::uint64_t{0} - 1).status, Nfs4Status::kInval);
  ASSERT_EQ(a->unlock(file.handle, mine.stateid, 12, 3), Nfs4Status::kOk);
  EXPECT_EQ(b->lock(other.handle, other.stateid, "k", 12, 3).status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(other.handle, other.stateid, "k", 11, 3).status, Nfs4Status::kDenied);
  // Closing releases all of them.
  ASSERT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kOk);
  EXPECT_EQ(b->lock(other.handle, other.stateid, "k", 10, 3).status, Nfs4Status::kOk);
}

TEST_F(OpenTest, LockTestNamesWhoIsInTheWay) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "holder", 5, 7).status, Nfs4Status::kOk);
  auto result = b->call(Ops().putfh(file.handle).op(13).u32(2).u64(0).u64(100).u64(b->client).string("asker"));
  ASSERT_EQ(result.status, Nfs4Status::kDenied);
  result.skip_sequence();
  result.next(22);
  EXPECT_EQ(result.next(13), Nfs4Status::kDenied);
  EXPECT_EQ(result.in.u64(), 5u);
  EXPECT_EQ(result.in.u64(), 7u);
  EXPECT_EQ(result.in.u32(), 2u);
  EXPECT_EQ(result.in.u64(), a->client);
  EXPECT_EQ(result.in.string(64), "holder");
  EXPECT_TRUE(b->call(Ops().putfh(file.handle).op(13).u32(2).u64(12).u64(100).u64(b->client).string("asker")).ok());
}

TEST_F(OpenTest, LocksNeedAnOpenThatAllowsThem) {
  ASSERT_EQ(a->open(root, "f", kOpenBoth).status, Nfs4Status::kOk);
  const auto reader = b->open(root, "f", kOpenRead);
  EXPECT_EQ(b->lock(reader.handle, reader.stateid, "l", 0, 1, true).status, Nfs4Status::kOpenMode);
  EXPECT_EQ(b->lock(reader.handle, reader.stateid, "l", 0, 1, false).status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(root, reader.stateid, "l", 0, 1, false).status, Nfs4Status::kIsDir);
}

TEST_F(OpenTest, StateidsAreTestedAndFreed) {
  const auto file = a->open(root, "f", kOpenBoth);
  auto locks = a->lock(file.handle, file.stateid, "l", 0, 1);
  WireStateid unknown = file.stateid;
  unknown.other[11] = std::byte{99};
  auto result = a->call(Ops().op(55).u32(3).stateid(file.stateid).stateid(locks.stateid).stateid(unknown));
  ASSERT_TRUE(result.ok());
  result.skip_sequence();
  result.next(55);
  EXPECT_EQ(result.in.u32(), 3u);
  EXPECT_EQ(static_cast<Nfs4Status>(result.in.u32()), Nfs4Status::kOk);
  EXPECT_EQ(static_cast<Nfs4Status>(result.in.u32()), Nfs4Status::kOk);
  EXPECT_EQ(static_cast<Nfs4Status>(result.in.u32()), Nfs4Status::kBadStateId);
  const auto free = [&](const WireStateid& stateid) { return a->call(Ops().op(45).stateid(stateid)).status; };
  EXPECT_EQ(free(file.stateid), Nfs4Status::kLocksHeld);
  EXPECT_EQ(free(locks.stateid), Nfs4Status::kLocksHeld);
  ASSERT_EQ(a->unlock(file.handle, locks.stateid, 0, 1), Nfs4Status::kOk);
  EXPECT_EQ(free(locks.stateid), Nfs4Status::kOk);
  EXPECT_EQ(free(locks.stateid), Nfs4Status::kBadStateId);
}

TEST_F(OpenTest, TheCurrentStateidPassesFromOpenToWrite) {
  const WireStateid current{.seqid = 1, .other = Bytes(12)};
  Ops ops;
  ops.putfh(root)
      .op(18)
      .u32(0)
      .u32(kOpenBoth)
      .u32(0)
      .u64(a->client)
      .string("o")
      .u32(1)
      .u32(0)
      .u32(0)
      .u32(0)
      .u32(0)
      .string("f");
  ops.op(38).stateid(current).u64(0).u32(2).string("at once");
  ops.op(4).u32(0).stateid(current);
  EXPECT_TRUE(a->call(ops).ok());
  const auto reader = b->open(root, "f", kOpenRead, 0, false);
  EXPECT_EQ(b->read(reader.handle, reader.stateid), "at once");
  EXPECT_EQ(a->write(reader.handle, current, "x"), Nfs4Status::kBadStateId);
}

TEST_F(OpenTest, AnOpenFileLivesWithoutAName) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->write(file.handle, file.stateid, "still here"), Nfs4Status::kOk);
  ASSERT_TRUE(b->call(Ops().putfh(root).op(28).string("f")).ok());
  EXPECT_EQ(a->read(file.handle, file.stateid), "still here");
  EXPECT_EQ(a->write(file.handle, file.stateid, "and writable"), Nfs4Status::kOk);
  ASSERT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kOk);
  EXPECT_EQ(a->call(Ops().putfh(file.handle).op(9).u32(1).u32(2)).status, Nfs4Status::kStale);
}

}  // namespace
}  // namespace stoa::test
