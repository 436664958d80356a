// Clients that administrators see, and take all state from: RFC 8881 8.4.2.4, 15.1.5.1, 18.38, 18.46.3.
#include <algorithm>

#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kAdminStateRevoked = 0x20;

class EvictionTest : public ProtocolTest {
 protected:
  explicit EvictionTest(Store store = Store::kMemory) : ProtocolTest(store) {
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    b = std::make_unique<CompoundCaller>(port, "b");
    a->back_channel = true;
    a->connect();
    b->connect();
    root = a->handle_of({"test"});
  }
  nfs::ClientStatus status_of(std::string_view name) {
    const auto clients = server->clients();
    const auto found = std::ranges::find(clients, name, &nfs::ClientStatus::name);
    return found == clients.end() ? nfs::ClientStatus{} : *found;
  }
  void evict_a() {
    const Status evicted = server->evict(status_of("a").id);
    ASSERT_TRUE(evicted) << describe(evicted.error());
  }
  Nfs4Status free(const WireStateid& stateid) { return a->call(Ops().op(45).stateid(stateid)).status; }

  std::unique_ptr<CompoundCaller> a, b;
  Bytes root;
};

TEST_F(EvictionTest, ClientsAreListedWithWhatTheyHave) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "l", 0, 10).status, Nfs4Status::kOk);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "l", 20, 10).status, Nfs4Status::kOk);
  const nfs::ClientStatus status = status_of("a");
  EXPECT_EQ(status.protocol, "nfs4.1");
  EXPECT_EQ(status.address, "127.0.0.1");
  EXPECT_EQ(status.held.opens, 1);
  EXPECT_EQ(status.held.locks, 2);
  EXPECT_EQ(status.held.leases, 0);
  EXPECT_EQ(status_of("b").held.opens, 0);
  CompoundCaller unconfirmed(port, "c");
  EXPECT_TRUE(unconfirmed.exchange().ok());
  EXPECT_EQ(server->clients().size(), 2u);
  EXPECT_EQ(server->evict(core::HolderId{77}).error().code, Errc::kNotFound);
  EXPECT_EQ(server->evict(core::kNoHolder).error().code, Errc::kNotFound);
}

TEST_F(EvictionTest, WhoHasAFileIsSeen) {
  const auto file = a->open(root, "f", kOpenBoth, 2);
  ASSERT_EQ(a->lock(file.handle, file.stateid, "l", 0, 10).status, Nfs4Status::kOk);
  const auto theirs = b->open(root, "f", kOpenRead);
  ASSERT_EQ(theirs.status, Nfs4Status::kOk);
  ASSERT_EQ(b->lock(theirs.handle, theirs.stateid, "m", 5, 10, false, false, true).status, Nfs4Status::kDenied);
  const auto id_of = [&](std::string_view path) {
    const auto dir = volume->ns().lookup({}, {.parent = core::kRootId, .name = "test"});
    return volume->ns().lookup({}, {.parent = dir->attr.id, .name = path})->attr.id;
  };
  core::FileHoldings held = volume->state().held_of(id_of("f"), 10);
  ASSERT_EQ(held.opens.first.size(), 2u);
  const auto of_a = std::ranges::find(held.opens.first, status_of("a").id, &core::FileHoldings::Opens::holder);
  ASSERT_NE(of_a, held.opens.first.end());
  EXPECT_EQ(of_a->access, 3u);
  EXPECT_EQ(of_a->deny, 2u);
  ASSERT_EQ(held.locks.first.size(), 1u);
  EXPECT_EQ(held.locks.first[0].holder, status_of("a").id);
  EXPECT_EQ(held.locks.first[0].range, (core::LockRange{0, 10}));
  ASSERT_EQ(held.waits.first.size(), 1u);
  EXPECT_EQ(held.waits.first[0].holder, status_of("b").id);
  EXPECT_FALSE(held.waits.first[0].exclusive);

  // A delegation, until another client wants the file.
  const auto made = b->open(root, "g", kOpenBoth);
  ASSERT_EQ(b->close(made.handle, made.stateid), Nfs4Status::kOk);
  ASSERT_EQ(a->open(root, "g", kOpenRead, 0, false).delegation.type, 1u);
  held = volume->state().held_of(id_of("g"), 10);
  ASSERT_EQ(held.leases.first.size(), 1u);
  EXPECT_EQ(held.leases.first[0].holder, status_of("a").id);
  EXPECT_EQ(held.leases.first[0].bits, core::kReadCaching);
  EXPECT_FALSE(held.leases.first[0].recalled);
  EXPECT_EQ(b->open(root, "g", kOpenBoth).status, Nfs4Status::kDelay);
  EXPECT_TRUE(volume->state().held_of(id_of("g"), 10).leases.first[0].recalled);
  evict_a();
  EXPECT_EQ(volume->state().held_of(id_of("g"), 10).leases.total, 0u);
  EXPECT_EQ(volume->state().held_of(id_of("f"), 10).locks.total, 0u);
}

TEST_F(EvictionTest, AllThatAClientHasIsFreeAndItIsToldSo) {
  const auto file = a->open(root, "f", kOpenBoth, kOpenBoth);
  const auto locks = a->lock(file.handle, file.stateid, "l", 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "f", kOpenBoth).status, Nfs4Status::kShareDenied);
  evict_a();
  const auto theirs = b->open(root, "f", kOpenBoth);
  ASSERT_EQ(theirs.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(theirs.handle, theirs.stateid, "l", 0, 5).status, Nfs4Status::kOk);
  EXPECT_EQ(status_of("a").held.opens + status_of("a").held.locks, 0);

  EXPECT_EQ(a->status_flags() & kAdminStateRevoked, kAdminStateRevoked);
  EXPECT_EQ(a->write(file.handle, file.stateid, "x"), Nfs4Status::kAdminRevoked);
  EXPECT_EQ(a->lock_again(file.handle, locks.stateid, 5, 5).status, Nfs4Status::kAdminRevoked);
  EXPECT_EQ(a->lock(file.handle, file.stateid, "m", 5, 5).status, Nfs4Status::kAdminRevoked);
  WireStateid lock_stateid = locks.stateid;
  EXPECT_EQ(a->unlock(file.handle, lock_stateid, 0, 10), Nfs4Status::kAdminRevoked);
  EXPECT_EQ(a->close(file.handle, file.stateid), Nfs4Status::kAdminRevoked);
  {
    auto tested = a->call(Ops().op(55).u32(1).stateid(file.stateid));
    ASSERT_TRUE(tested.ok());
    tested.skip_sequence();
    tested.next(55);
    tested.in.u32();
    EXPECT_EQ(static_cast<Nfs4Status>(tested.in.u32()), Nfs4Status::kAdminRevoked);
  }
  EXPECT_EQ(free(file.stateid), Nfs4Status::kOk);
  EXPECT_EQ(free(file.stateid), Nfs4Status::kBadStateId);
  EXPECT_NE(a->status_flags() & kAdminStateRevoked, 0u);
  EXPECT_EQ(free(locks.stateid), Nfs4Status::kOk);
  EXPECT_EQ(a->status_flags() & kAdminStateRevoked, 0u);

  // The client goes on with free files.
  const auto again = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_EQ(a->lock(again.handle, again.stateid, "l", 0, 5).status, Nfs4Status::kDenied);
  EXPECT_EQ(a->lock(again.handle, again.stateid, "l", 5, 5).status, Nfs4Status::kOk);
}

TEST_F(EvictionTest, OpensAnewMayComeBeforeTheClientHasHeard) {
  const auto file = a->open(root, "f", kOpenBoth);
  evict_a();
  const auto again = a->open(root, "f", kOpenBoth);
  ASSERT_EQ(again.status, Nfs4Status::kOk);
  EXPECT_NE(again.stateid.other, file.stateid.other);
  EXPECT_EQ(free(file.stateid), Nfs4Status::kOk);
  EXPECT_EQ(a->write(again.handle, again.stateid, "x"), Nfs4Status::kOk);
}

TEST_F(EvictionTest, DelegationsHinderNobodyAnyMore) {
  const auto made = b->open(root, "g", kOpenBoth);
  ASSERT_EQ(b->close(made.handle, made.stateid), Nfs4Status::kOk);
  const auto file = a->open(root, "g", kOpenRead, 0, false);
  ASSERT_EQ(file.delegation.type, 1u);
  EXPECT_EQ(status_of("a").held.leases, 1);
  evict_a();
  EXPECT_EQ(status_of("a").held.leases, 0);
  EXPECT_EQ(b->open(root, "g", kOpenBoth).status, Nfs4Status::kOk);
  EXPECT_FALSE(a->recalled());
  EXPECT_EQ(a->return_delegation(file.handle, file.delegation.stateid), Nfs4Status::kAdminRevoked);
  EXPECT_EQ(free(file.delegation.stateid), Nfs4Status::kOk);
}

TEST_F(EvictionTest, AFileWithoutANameGoes) {
  const auto file = a->open(root, "f", kOpenBoth);
  ASSERT_TRUE(b->call(Ops().putfh(root).op(28).string("f")).ok());
  EXPECT_TRUE(b->call(Ops().putfh(file.handle).op(9).u32(1).u32(2)).ok());
  evict_a();
  EXPECT_EQ(b->call(Ops().putfh(file.handle).op(9).u32(1).u32(2)).status, Nfs4Status::kStale);
}

TEST_F(EvictionTest, AClientWithNothingButRevokedStateMayLeave) {
  a->open(root, "f", kOpenBoth);
  evict_a();
  ASSERT_TRUE(a->call(Ops().op(44).fixed(a->session)).ok());
  EXPECT_TRUE(a->send(Ops().op(57).u64(a->client)).ok());
}

class EvictionRestartTest : public EvictionTest {
 protected:
  EvictionRestartTest() : EvictionTest(Store::kDisk) {}
};

TEST_F(EvictionRestartTest, WhatWasTakenAwayIsNotReclaimed) {
  const auto file = a->open(root, "f", kOpenBoth);
  evict_a();
  restart();
  a->reconnect(port);
  b->reconnect(port);
  a->connect(false);
  b->connect();
  EXPECT_EQ(b->open(root, "f", kOpenBoth).status, Nfs4Status::kOk);  // no client is waited for
  EXPECT_EQ(a->open_claim(file.handle, Ops().u32(1).u32(0), kOpenBoth).status, Nfs4Status::kNoGrace);
}

}  // namespace
}  // namespace stoa::test
