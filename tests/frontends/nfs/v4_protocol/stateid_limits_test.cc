// Limits of the stateids of one client and one address: RFC 8881 15.1.1.3 (NFS4ERR_DELAY). Others are not affected,
// and returned state makes room.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kWantNone = 0x400;
constexpr std::uint32_t kDelegationNone = 0, kDelegationRead = 1;

class StateidLimitsTest : public ProtocolTest {
 protected:
  StateidLimitsTest() {
    options.stateids = {.of_client = 3, .of_peer = 5};
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    a->back_channel = true;
    a->connect();
    b = std::make_unique<CompoundCaller>(port, "b");
    b->connect();
    far = std::make_unique<CompoundCaller>(port, "far", 1, 0, 2);
    far->connect();
    root = a->handle_of({"test"});
  }
  CompoundCaller::Open open(CompoundCaller& who, std::string_view name, std::uint32_t access = kOpenBoth) {
    return who.open(root, name, access | kWantNone);
  }
  void close(CompoundCaller& who, const CompoundCaller::Open& file) {
    EXPECT_EQ(who.close(file.handle, file.stateid), Nfs4Status::kOk);
  }
  std::unique_ptr<CompoundCaller> a, b, far;
  Bytes root;
};

TEST_F(StateidLimitsTest, OneClientIsRefusedMoreAndKeepsWhatItHas) {
  const auto f = open(*a, "f"), g = open(*a, "g");
  ASSERT_EQ(g.status, Nfs4Status::kOk);
  auto locks = a->lock(f.handle, f.stateid, "l", 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  EXPECT_EQ(open(*a, "h").status, Nfs4Status::kDelay);
  EXPECT_EQ(a->lock(f.handle, f.stateid, "another", 20, 10).status, Nfs4Status::kDelay);

  // Existing state may grow, and be used.
  EXPECT_EQ(open(*a, "f").status, Nfs4Status::kOk);
  locks = a->lock_again(f.handle, locks.stateid, 30, 10);
  EXPECT_EQ(locks.status, Nfs4Status::kOk);
  EXPECT_EQ(a->write(g.handle, g.stateid, "x"), Nfs4Status::kOk);
  // The refused lock has no holder; the other client of this address has room of its own.
  const auto theirs = open(*b, "f");
  ASSERT_EQ(theirs.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(theirs.handle, theirs.stateid, "b", 20, 10).status, Nfs4Status::kOk);

  EXPECT_EQ(a->unlock(f.handle, locks.stateid, 0, ~std::uint64_t{0}), Nfs4Status::kOk);
  EXPECT_EQ(a->call(Ops().op(45).stateid(locks.stateid)).status, Nfs4Status::kOk);  // FREE_STATEID
  EXPECT_EQ(open(*a, "h").status, Nfs4Status::kOk);
  EXPECT_EQ(open(*a, "i").status, Nfs4Status::kDelay);
}

TEST_F(StateidLimitsTest, OneAddressIsRefusedMoreAndOthersGetIn) {
  const auto f = open(*a, "f");
  for (const char* name : {"g", "h"}) EXPECT_EQ(open(*a, name).status, Nfs4Status::kOk);
  for (const char* name : {"i", "j"}) EXPECT_EQ(open(*b, name).status, Nfs4Status::kOk);
  EXPECT_EQ(open(*b, "k").status, Nfs4Status::kDelay);
  CompoundCaller more(port, "more");
  more.connect();
  EXPECT_EQ(open(more, "k").status, Nfs4Status::kDelay);
  for (const char* name : {"f", "g", "k"}) EXPECT_EQ(open(*far, name).status, Nfs4Status::kOk);
  EXPECT_EQ(open(*far, "h").status, Nfs4Status::kDelay);  // its own limit

  close(*a, f);
  const auto k = open(more, "k");
  EXPECT_EQ(k.status, Nfs4Status::kOk);
  EXPECT_EQ(open(*b, "k").status, Nfs4Status::kDelay);
  // A client that has started anew has given back everything.
  CompoundCaller again(port, "b", 2);
  again.connect();
  for (const char* name : {"i", "j"}) EXPECT_EQ(open(again, name).status, Nfs4Status::kOk);
  EXPECT_EQ(open(again, "k").status, Nfs4Status::kDelay);
}

// Else a client that retries with GUARDED4 would find that the file exists.
TEST_F(StateidLimitsTest, AnOpenThatIsRefusedLeavesNoFile) {
  for (const char* name : {"f", "g", "h"}) ASSERT_EQ(open(*a, name).status, Nfs4Status::kOk);
  ASSERT_EQ(open(*far, "theirs").status, Nfs4Status::kOk);
  const auto create = [&](std::string_view name, const Ops& how) {
    return a
        ->call(Ops()
                   .putfh(root)
                   .op(18)
                   .u32(0)
                   .u32(kOpenBoth | kWantNone)
                   .u32(0)
                   .u64(a->client)
                   .string("owner")
                   .u32(1)
                   .more(how)
                   .u32(0)
                   .string(name))
        .status;
  };
  const std::pair<const char*, Ops> hows[] = {{"unchecked", Ops().u32(0).u32(0).u32(0)},
                                              {"guarded", Ops().u32(1).u32(0).u32(0)},
                                              {"exclusive", Ops().u32(2).u64(7)},
                                              {"exclusive 4.1", Ops().u32(3).u64(7).u32(0).u32(0)}};
  for (const auto& [name, how] : hows) {
    EXPECT_EQ(create(name, how), Nfs4Status::kDelay) << name;
    EXPECT_EQ(b->call(Ops().putfh(root).lookup(name)).status, Nfs4Status::kNoEnt) << name;
  }
  // An existing file is opened where that takes no room, and refused where it does, with nothing changed.
  const auto f = open(*a, "f");
  ASSERT_EQ(f.status, Nfs4Status::kOk);
  EXPECT_EQ(open(*a, "theirs").status, Nfs4Status::kDelay);
  close(*a, f);
  EXPECT_EQ(create("guarded", Ops().u32(1).u32(0).u32(0)), Nfs4Status::kOk);
}

TEST_F(StateidLimitsTest, WhereThereIsNoRoomThereIsNoDelegation) {
  const auto f = open(*a, "f", kOpenRead), g = open(*a, "g"), h = open(*a, "h");
  ASSERT_EQ(h.status, Nfs4Status::kOk);
  EXPECT_EQ(a->open(root, "f", kOpenRead, 0, false).delegation.type, kDelegationNone);
  close(*a, h);
  const auto delegated = a->open(root, "f", kOpenRead, 0, false);
  EXPECT_EQ(delegated.delegation.type, kDelegationRead);
  EXPECT_EQ(open(*a, "h").status, Nfs4Status::kDelay);
  EXPECT_EQ(a->return_delegation(f.handle, delegated.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(open(*a, "h").status, Nfs4Status::kOk);
}

}  // namespace
}  // namespace stoa::test
