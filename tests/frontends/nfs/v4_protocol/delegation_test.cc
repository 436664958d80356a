// Delegations from grant to return, recall and revocation: RFC 8881 10.2 to 10.4, 20.2, 18.6, 18.33, 18.34.
#include <functional>

#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kWantWrite = 0x200, kWantNone = 0x400;
constexpr std::uint32_t kDelegationNone = 0, kDelegationRead = 1, kDelegationWrite = 2, kDelegationNoneExt = 3;
constexpr std::uint32_t kCbPathDown = 0x1, kStateRevoked = 0x40, kCbPathDownSession = 0x200;
const WireStateid kAnonymous{};

// `a` has a back channel and gets delegations; `b` and `nfs` (version 3) conflict with it.
class DelegationTest : public ProtocolTest {
 protected:
  explicit DelegationTest(const core::VolumeOptions& volume_options = {})
      : ProtocolTest(Store::kMemory, volume_options) {
    publish("test", {anyone()});
    start_protocol();
    a = std::make_unique<CompoundCaller>(port, "a");
    b = std::make_unique<CompoundCaller>(port, "b");
    a->back_channel = true;
    a->connect();
    b->connect();
    root = a->handle_of({"test"});
    nfs = std::make_unique<NfsCaller>(port);
    root_v3 = nfs->mount("/test").value_or(Handle{});
  }

  Bytes make(std::string_view name) {
    const auto made = b->open(root, name, kOpenBoth);
    EXPECT_EQ(made.status, Nfs4Status::kOk);
    EXPECT_EQ(b->write(made.handle, made.stateid, "content"), Nfs4Status::kOk);
    EXPECT_EQ(b->close(made.handle, made.stateid), Nfs4Status::kOk);
    return made.handle;
  }
  CompoundCaller::Open delegated(std::string_view name, std::uint32_t access) {
    make(name);
    const auto open = a->open(root, name, access, 0, false);
    EXPECT_EQ(open.status, Nfs4Status::kOk);
    EXPECT_EQ(open.delegation.type, (access & kOpenWrite) != 0 ? kDelegationWrite : kDelegationRead);
    return open;
  }
  Nfs4Status by_b(const Ops& ops) { return b->call(ops).status; }

  // An operation of another client waits, and `a` is asked for its delegation; once that is returned, it is done.
  template <class Status>
  void expect_recall(const CompoundCaller::Open& open, Status delayed, Status done,
                     const std::function<Status()>& request) {
    EXPECT_EQ(request(), delayed);
    const WireRecall recall = a->take_recall();
    EXPECT_EQ(recall.stateid.other, open.delegation.stateid.other);
    EXPECT_EQ(recall.handle, open.handle);
    EXPECT_EQ(request(), delayed);
    EXPECT_EQ(a->close(open.handle, open.stateid), Nfs4Status::kOk);
    EXPECT_EQ(request(), delayed);
    EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
    EXPECT_EQ(request(), done);
    EXPECT_FALSE(a->recalled());
  }
  void expect_recall4(const CompoundCaller::Open& open, const std::function<Nfs4Status()>& request) {
    expect_recall(open, Nfs4Status::kDelay, Nfs4Status::kOk, request);
  }
  void expect_recall3(const CompoundCaller::Open& open, const std::function<NfsStatus()>& request) {
    expect_recall(open, NfsStatus::kJukebox, NfsStatus::kOk, request);
  }

  std::unique_ptr<CompoundCaller> a, b;
  std::unique_ptr<NfsCaller> nfs;
  Bytes root;
  Handle root_v3;
};

TEST_F(DelegationTest, WhoOpensForReadingMayCache) {
  const auto open = delegated("f", kOpenRead);
  EXPECT_EQ(a->read(open.handle, open.delegation.stateid), "content");
  EXPECT_EQ(a->write(open.handle, open.delegation.stateid, "x"), Nfs4Status::kOpenMode);
  // Others may read meanwhile, in all ways.
  const auto other = b->open(root, "f", kOpenRead, 0, false);
  EXPECT_EQ(other.status, Nfs4Status::kOk);
  EXPECT_EQ(b->read(other.handle, other.stateid), "content");
  EXPECT_EQ(b->read(other.handle, kAnonymous), "content");
  EXPECT_EQ(nfs->read(*nfs->lookup(root_v3, "f")), "content");
  EXPECT_FALSE(a->recalled());
  EXPECT_EQ(a->status_flags(), 0u);
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kBadStateId);
}

TEST_F(DelegationTest, SeveralClientsMayCacheTheSameFile) {
  CompoundCaller c(port, "c");
  c.back_channel = true;
  c.connect();
  const auto first = delegated("f", kOpenRead);
  const auto second = c.open(root, "f", kOpenRead, 0, false);
  ASSERT_EQ(second.delegation.type, kDelegationRead);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("f")), Nfs4Status::kDelay);
  a->take_recall();
  c.take_recall();
  EXPECT_EQ(a->return_delegation(first.handle, first.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("f")), Nfs4Status::kDelay);
  EXPECT_EQ(c.return_delegation(second.handle, second.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("f")), Nfs4Status::kOk);
}

TEST_F(DelegationTest, OneIsNotGivenWhereItIsOfNoUse) {
  make("f");
  EXPECT_EQ(a->open(root, "f", kOpenBoth, 0, false).delegation.type, kDelegationNone);  // no client asked for one to
                                                                                        // write
  const auto writer = b->open(root, "f", kOpenWrite, 0, false);
  EXPECT_EQ(a->open(root, "f", kOpenRead, 0, false, "reader").delegation.type, kDelegationNone);
  const auto unwanted = a->open(root, "f", kOpenRead | kWantNone, 0, false, "unwilling");
  EXPECT_EQ(unwanted.delegation.type, kDelegationNoneExt);
  EXPECT_EQ(unwanted.delegation.why, 0u);  // WND4_NOT_WANTED
  const auto wanted = a->open(root, "f", kOpenBoth | kWantWrite, 0, false, "writer");
  EXPECT_EQ(wanted.delegation.type, kDelegationNoneExt);
  EXPECT_EQ(b->close(writer.handle, writer.stateid), Nfs4Status::kOk);
}

TEST_F(DelegationTest, WithoutABackChannelThereIsNone) {
  make("f");
  EXPECT_EQ(b->open(root, "f", kOpenRead, 0, false).delegation.type, kDelegationNone);
  EXPECT_EQ(b->open(root, "f", kOpenBoth | kWantWrite, 0, false).delegation.type, kDelegationNoneExt);
}

TEST_F(DelegationTest, ChangesOfOtherClientsRecallItFirst) {
  expect_recall4(delegated("open", kOpenRead), [&] { return b->open(root, "open", kOpenWrite, 0, false).status; });
  const auto written = delegated("write", kOpenRead);
  expect_recall4(written, [&] { return b->write(written.handle, kAnonymous, "x"); });
  expect_recall4(delegated("remove", kOpenRead), [&] { return by_b(Ops().putfh(root).op(28).string("remove")); });
  expect_recall4(delegated("rename", kOpenRead),
                 [&] { return by_b(Ops().putfh(root).op(32).op(29).string("rename").string("renamed")); });
  make("new");
  expect_recall4(delegated("replaced", kOpenRead),
                 [&] { return by_b(Ops().putfh(root).op(32).op(29).string("new").string("replaced")); });
  const auto set = delegated("setattr", kOpenRead);
  expect_recall4(set, [&] {
    return by_b(Ops().putfh(set.handle).op(34).stateid(kAnonymous).u32(2).u32(0).u32(2).u32(4).u32(0600));
  });
  const auto cut = delegated("truncate", kOpenRead);
  expect_recall4(cut,
                 [&] { return by_b(Ops().putfh(cut.handle).op(34).stateid(kAnonymous).u32(1).u32(16).u32(8).u64(1)); });
  const auto linked = delegated("link", kOpenRead);
  expect_recall4(linked,
                 [&] { return by_b(Ops().putfh(linked.handle).op(32).putfh(root).op(11).string("second name")); });
}

// RFC 8881 10.4.3, 20.1.
TEST_F(DelegationTest, AttributesAreAskedForWhileTheDelegationStays) {
  struct Shown {
    Nfs4Status status{};
    std::uint64_t change = 0, size = 0;
  };
  const auto open = delegated("f", kOpenBoth | kWantWrite);
  const auto look = [&](CompoundCaller& c) -> Shown {
    auto result = c.call(Ops().putfh(open.handle).op(9).u32(1).u32(1u << 3 | 1u << 4));
    if (!result.ok()) return {result.status};
    result.skip_sequence();
    result.next(22);
    result.next(9);
    result.in.fixed(4 + 4 + 4);
    const std::uint64_t change = result.in.u64();
    return {Nfs4Status::kOk, change, result.in.u64()};
  };
  // Until the answer is of the present state of `a`: an earlier one is valid for a moment.
  const auto until = [&](auto done) {
    for (;;) {
      a->call({});
      const Shown shown = look(*b);
      if (shown.status != Nfs4Status::kDelay && (shown.status != Nfs4Status::kOk || done(shown))) return shown;
    }
  };
  const Shown mine = look(*a);
  ASSERT_EQ(mine.size, 7u);
  a->told = {mine.change, 7};
  EXPECT_EQ(look(*b).status, Nfs4Status::kDelay);
  const Shown same = until([](const Shown&) { return true; });
  EXPECT_EQ(same.change, mine.change) << "nothing was written";
  EXPECT_EQ(same.size, 7u);
  a->told = {mine.change + 1, 5};
  const Shown changed = until([](const Shown& shown) { return shown.size == 5; });
  EXPECT_NE(changed.change, mine.change);
  const int asked = a->asked;
  const Shown again = until([&](const Shown&) { return a->asked > asked; });
  EXPECT_EQ(again.change, changed.change) << "counted once";
  EXPECT_EQ(again.size, 5u);
  EXPECT_FALSE(a->recalled());
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(look(*b).change, changed.change);
  EXPECT_EQ(look(*b).size, 7u) << "it was never written";
}

TEST_F(DelegationTest, WhoDeniesReadingRecallsItFirst) {
  const auto open = delegated("f", kOpenRead);
  EXPECT_EQ(b->open(root, "f", kOpenRead, kOpenRead, false).status, Nfs4Status::kShareDenied);
  EXPECT_FALSE(a->recalled());
  EXPECT_EQ(a->close(open.handle, open.stateid), Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "f", kOpenRead, kOpenRead, false).status, Nfs4Status::kDelay);
  a->take_recall();
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(b->open(root, "f", kOpenRead, kOpenRead, false).status, Nfs4Status::kOk);
}

TEST_F(DelegationTest, ChangesOverVersion3RecallItFirst) {
  const auto handle = [&](std::string_view name) { return *nfs->lookup(root_v3, name); };
  expect_recall3(delegated("write", kOpenRead), [&] { return nfs->write(handle("write"), 0, "x"); });
  expect_recall3(delegated("setattr", kOpenRead),
                 [&] { return nfs->setattr(handle("setattr"), {.mode = 0600}).status; });
  expect_recall3(delegated("truncate", kOpenRead),
                 [&] { return nfs->setattr(handle("truncate"), {.size = 1}).status; });
  expect_recall3(delegated("remove", kOpenRead), [&] { return nfs->named(kRemove, root_v3, "remove").status; });
  expect_recall3(delegated("rename", kOpenRead),
                 [&] { return nfs->rename_call(root_v3, "rename", root_v3, "renamed").status; });
}

TEST_F(DelegationTest, ReadersRecallADelegationForWriting) {
  expect_recall4(delegated("open", kOpenBoth | kWantWrite),
                 [&] { return b->open(root, "open", kOpenRead, 0, false).status; });
  const auto looked = delegated("getattr", kOpenBoth | kWantWrite);
  const auto getattr = [&] { return by_b(Ops().putfh(looked.handle).op(9).u32(1).u32(16)); };
  // Its client is asked for the attributes first, and does not answer.
  while (!a->recalled()) {
    EXPECT_EQ(getattr(), Nfs4Status::kDelay);
    a->call({});
  }
  EXPECT_GT(a->asked, 0);
  expect_recall4(looked, getattr);
  const auto read = delegated("read", kOpenBoth | kWantWrite);
  expect_recall4(read, [&] { return by_b(Ops().putfh(read.handle).op(25).stateid(kAnonymous).u64(0).u32(100)); });
  make("v3 read"), make("v3 getattr");
  const auto read_handle = *nfs->lookup(root_v3, "v3 read"), look_handle = *nfs->lookup(root_v3, "v3 getattr");
  expect_recall3(delegated("v3 read", kOpenBoth | kWantWrite),
                 [&] { return nfs->read_call(read_handle, 0, 100).status; });
  expect_recall3(delegated("v3 getattr", kOpenBoth | kWantWrite), [&] { return nfs->getattr(look_handle).status; });
}

// Operations that show size and times of a file look at it (10.4.3), besides their other effects.
TEST_F(DelegationTest, LookUpsAndListingsRecallADelegationForWriting) {
  const auto handle = [&](std::string_view name) {
    make(name);
    return *nfs->lookup(root_v3, name);
  };
  const auto access_handle = handle("access");
  const auto write = [&](std::string_view name) { return delegated(name, kOpenBoth | kWantWrite); };
  expect_recall3(write("v3 look-up"), [&] { return nfs->named(kLookup, root_v3, "v3 look-up").status; });
  expect_recall3(write("access"), [&] { return nfs->call(kAccess, Xdr().opaque(access_handle).u32(1)).status; });
  expect_recall3(write("readdirplus"), [&] { return nfs->readdirplus(root_v3, 0, 0, 4096, 65536).status; });
  EXPECT_EQ(nfs->readdir(root_v3, 0, 0, 4096).status, NfsStatus::kOk);
  const auto list = [&](std::uint32_t attribute) {
    return by_b(Ops().putfh(root).op(26).u64(0).u64(0).u32(4096).u32(65536).u32(1).u32(attribute));
  };
  const auto listed = write("readdir");
  EXPECT_EQ(list(1u << 20), Nfs4Status::kOk);  // fileid alone
  EXPECT_FALSE(a->recalled());
  expect_recall4(listed, [&] { return list(1u << 4); });
  expect_recall4(write("look-up"), [&] { return by_b(Ops().putfh(root).lookup("look-up")); });
  // Two recalls at once.
  const auto one = write("one"), two = write("two");
  EXPECT_EQ(list(1u << 4), Nfs4Status::kDelay);
  a->take_recall();
  a->take_recall();
  EXPECT_EQ(a->return_delegation(one.handle, one.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(a->return_delegation(two.handle, two.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(list(1u << 4), Nfs4Status::kOk);
}

TEST_F(DelegationTest, WhatItsHolderDoesRecallsNothing) {
  const auto open = delegated("f", kOpenBoth | kWantWrite);
  EXPECT_EQ(a->write(open.handle, open.delegation.stateid, "mine"), Nfs4Status::kOk);
  EXPECT_EQ(a->read(open.handle, open.stateid), "mineent");
  EXPECT_EQ(a->open(root, "f", kOpenRead, 0, false, "another").status, Nfs4Status::kOk);
  EXPECT_TRUE(a->call(Ops().putfh(root).op(26).u64(0).u64(0).u32(4096).u32(65536).u32(1).u32(16)).ok());
  EXPECT_TRUE(a->call(Ops().putfh(open.handle).op(34).stateid(kAnonymous).u32(2).u32(0).u32(2).u32(4).u32(0600)).ok());
  EXPECT_FALSE(a->recalled());
}

TEST_F(DelegationTest, OpensMadeUnderADelegationAreToldWhenItIsRecalled) {
  const auto open = delegated("f", kOpenBoth | kWantWrite);
  EXPECT_EQ(b->open(root, "f", kOpenBoth, 0, false).status, Nfs4Status::kDelay);
  a->take_recall();
  const auto by_name =
      a->open_claim(root, Ops().u32(2).stateid(open.delegation.stateid).string("f"), kOpenBoth, "a process of its own");
  EXPECT_EQ(by_name.status, Nfs4Status::kOk);
  const auto by_handle =
      a->open_claim(open.handle, Ops().u32(5).stateid(open.delegation.stateid), kOpenRead, "another");
  EXPECT_EQ(by_handle.status, Nfs4Status::kOk);
  EXPECT_EQ(by_handle.delegation.type, kDelegationNone);
  EXPECT_EQ(a->lock(by_name.handle, by_name.stateid, "l", 0, 1).status, Nfs4Status::kOk);
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(a->open_claim(open.handle, Ops().u32(5).stateid(open.delegation.stateid), kOpenRead).status,
            Nfs4Status::kBadStateId);
  const auto other = b->open(root, "f", kOpenBoth, 0, false);
  ASSERT_EQ(other.status, Nfs4Status::kOk);
  EXPECT_EQ(b->lock(other.handle, other.stateid, "l", 0, 1).status, Nfs4Status::kDenied);
}

TEST_F(DelegationTest, OneIsGivenOnItsOwnToWhoWantsIt) {
  constexpr std::uint32_t kClaimFh = 4;
  const auto want = [](CompoundCaller& who, const Bytes& handle, std::uint32_t wanted) {
    auto result = who.call(Ops().putfh(handle).op(56).u32(wanted).u32(kClaimFh));
    std::pair answer{result.status, WireDelegation{}};
    if (!result.ok()) return answer;
    result.skip_sequence();
    result.next(22);
    result.next(56);
    answer.second = read_delegation(result.in);
    return answer;
  };
  const Bytes f = make("f"), g = make("g");
  const auto [status, read] = want(*a, f, 0x100);
  ASSERT_EQ(status, Nfs4Status::kOk);
  ASSERT_EQ(read.type, kDelegationRead);
  EXPECT_EQ(a->read(f, read.stateid), "content");
  const auto upgrade = want(*a, f, kWantWrite).second;
  EXPECT_EQ(upgrade.type, kDelegationNoneExt);
  EXPECT_EQ(upgrade.why, 5u);  // WND4_NOT_SUPP_UPGRADE
  const auto [status_of_g, write] = want(*a, g, kWantWrite);
  ASSERT_EQ(write.type, kDelegationWrite);
  EXPECT_EQ(want(*a, g, 0x300).second.why, 6u);  // WND4_NOT_SUPP_DOWNGRADE
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("g")), Nfs4Status::kDelay);
  EXPECT_EQ(a->take_recall().stateid.other, write.stateid.other);
  EXPECT_EQ(a->return_delegation(g, write.stateid), Nfs4Status::kOk);
  EXPECT_EQ(want(*a, g, kWantWrite).second.why, 1u);  // WND4_CONTENTION: just recalled
  EXPECT_EQ(want(*b, f, 0x100).second.why, 2u);       // WND4_RESOURCE: cannot be called
  EXPECT_EQ(want(*a, f, 0x500).second.why, 7u);       // WND4_CANCELLED: no wait
  EXPECT_EQ(want(*a, root, 0x100).first, Nfs4Status::kWrongType);
  EXPECT_EQ(want(*a, f, 0).first, Nfs4Status::kInval);
  EXPECT_EQ(want(*a, f, kWantNone).first, Nfs4Status::kInval);
  EXPECT_EQ(want(*a, f, 0x100 | 3).first, Nfs4Status::kInval);
  EXPECT_EQ(a->call(Ops().putfh(f).op(56).u32(0x100).u32(1).u32(1)).status, Nfs4Status::kNoGrace);
  EXPECT_EQ(a->call(Ops().putfh(f).op(56).u32(0x100).u32(6)).status, Nfs4Status::kNotSupp);
  EXPECT_EQ(a->call(Ops().putfh(f).op(56).u32(0x100).u32(0)).status, Nfs4Status::kBadXdr);
  EXPECT_EQ(a->call(Ops().op(56).u32(0x100).u32(4)).status, Nfs4Status::kNoFileHandle);
  CompoundCaller other(port, "other", 1, 1000);
  other.back_channel = true;
  other.connect();
  ASSERT_TRUE(b->call(Ops().putfh(f).op(34).stateid(kAnonymous).u32(2).u32(0).u32(2).u32(4).u32(0600)).status ==
              Nfs4Status::kDelay);
  EXPECT_EQ(a->return_delegation(f, read.stateid), Nfs4Status::kOk);
  ASSERT_TRUE(b->call(Ops().putfh(f).op(34).stateid(kAnonymous).u32(2).u32(0).u32(2).u32(4).u32(0600)).ok());
  EXPECT_EQ(want(other, f, 0x100).first, Nfs4Status::kAccess);
}

TEST_F(DelegationTest, OneThatIsNotAnsweredHoldsUpNoOther) {
  const auto first = delegated("f", kOpenRead), second = delegated("g", kOpenRead);
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("f")), Nfs4Status::kDelay);
  EXPECT_EQ(a->take_recall().stateid.other, first.delegation.stateid.other);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("g")), Nfs4Status::kDelay);
  EXPECT_EQ(a->take_recall().stateid.other, second.delegation.stateid.other);
  EXPECT_EQ(a->return_delegation(second.handle, second.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("g")), Nfs4Status::kOk);
}

TEST_F(DelegationTest, ARecallThatTheClientCannotTakeNowIsOfferedAgain) {
  const auto open = delegated("f", kOpenRead);
  a->callbacks = CompoundCaller::Callbacks::kDelayOnce;
  expect_recall4(open, [&] { return b->open(root, "f", kOpenWrite, 0, false).status; });
}

TEST_F(DelegationTest, ARecallFollowsTheBackChannelToAnotherConnection) {
  const auto first = delegated("f", kOpenRead), second = delegated("g", kOpenRead);
  const auto old = a->reconnect(port);
  ASSERT_EQ(a->bind_connection(), Nfs4Status::kOk);
  expect_recall4(first, [&] { return b->open(root, "f", kOpenWrite, 0, false).status; });
  // A connection for the fore channel only is not called over.
  const auto bound = a->reconnect(port);
  ASSERT_EQ(a->bind_connection(1), Nfs4Status::kOk);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("g")), Nfs4Status::kDelay);
  EXPECT_TRUE(bound->receive_record());
  EXPECT_EQ(a->return_delegation(second.handle, second.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("g")), Nfs4Status::kOk);
}

TEST_F(DelegationTest, ARecallUnderWayWhenItsConnectionClosesComesOverTheNextOne) {
  const auto open = delegated("f", kOpenRead);
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("f")), Nfs4Status::kDelay);
  EXPECT_EQ(a->take_recall().stateid.other, open.delegation.stateid.other);
  a->reconnect(port).reset();
  a->callbacks = CompoundCaller::Callbacks::kTake;
  ASSERT_EQ(a->bind_connection(7), Nfs4Status::kOk);
  EXPECT_EQ(a->take_recall().stateid.other, open.delegation.stateid.other);
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("f")), Nfs4Status::kOk);
}

TEST_F(DelegationTest, AClientIsToldThatItCannotBeCalled) {
  const auto open = delegated("f", kOpenRead);
  const auto old = a->reconnect(port);
  old->finish_sending();
  ASSERT_TRUE(old->closed_by_server());
  EXPECT_EQ(a->status_flags(), kCbPathDown | kCbPathDownSession);
  make("g");
  EXPECT_EQ(a->open(root, "g", kOpenRead, 0, false).delegation.type, kDelegationNone);
  ASSERT_EQ(a->bind_connection(), Nfs4Status::kOk);
  EXPECT_EQ(a->status_flags(), 0u);
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
}

// A client of 4.2 refuses callbacks of 4.1.
TEST_F(DelegationTest, CallbacksAreOfTheMinorVersionOfTheirSession) {
  a->minor_version = 2;
  a->connect(false);
  expect_recall4(delegated("f", kOpenRead), [&] { return b->open(root, "f", kOpenWrite, 0, false).status; });
}

TEST_F(DelegationTest, BackchannelCtlChangesHowTheClientIsCalled) {
  const auto open = delegated("f", kOpenRead);
  ASSERT_TRUE(a->call(Ops().op(40).u32(4711).u32(1).u32(0)).ok());
  EXPECT_EQ(by_b(Ops().putfh(root).op(28).string("f")), Nfs4Status::kDelay);
  EXPECT_EQ(a->take_recall().program, 4711u);
  EXPECT_EQ(a->return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
}

// No request waits longer for a client than the recall timeout.
class RevocationTest : public DelegationTest {
 protected:
  RevocationTest() : DelegationTest({.lease_recall_timeout_ms = 1}) {}
  std::uint32_t tested(const WireStateid& stateid) {
    auto result = a->call(Ops().op(55).u32(1).stateid(stateid));
    EXPECT_TRUE(result.ok());
    result.skip_sequence();
    result.next(55);
    result.in.u32();
    return result.in.u32();
  }
};

TEST_F(RevocationTest, AClientThatDoesNotAnswerLosesItsDelegationAndNothingElse) {
  const auto open = delegated("f", kOpenBoth | kWantWrite);
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  EXPECT_EQ(a->close(open.handle, open.stateid), Nfs4Status::kOk);
  const auto kept = a->open(root, "kept", kOpenBoth);
  Nfs4Status status;
  while ((status = b->open(root, "f", kOpenBoth, 0, false).status) == Nfs4Status::kDelay) {
  }
  EXPECT_EQ(status, Nfs4Status::kOk);
  a->take_recall();
  EXPECT_EQ(a->status_flags(), kStateRevoked);
  const WireStateid& revoked = open.delegation.stateid;
  EXPECT_EQ(tested(revoked), static_cast<std::uint32_t>(Nfs4Status::kDelegRevoked));
  EXPECT_EQ(a->write(open.handle, revoked, "late"), Nfs4Status::kDelegRevoked);
  EXPECT_EQ(a->read(open.handle, revoked), std::nullopt);
  EXPECT_EQ(a->open_claim(open.handle, Ops().u32(5).stateid(revoked), kOpenRead).status, Nfs4Status::kDelegRevoked);
  EXPECT_EQ(a->return_delegation(open.handle, revoked), Nfs4Status::kDelegRevoked);
  EXPECT_EQ(a->write(kept.handle, kept.stateid, "still mine"), Nfs4Status::kOk);
  ASSERT_TRUE(a->call(Ops().op(45).stateid(revoked)).ok());
  EXPECT_EQ(tested(revoked), static_cast<std::uint32_t>(Nfs4Status::kBadStateId));
  EXPECT_EQ(a->status_flags(), 0u);
}

TEST_F(RevocationTest, Version3WaitsNoLonger) {
  delegated("f", kOpenRead);
  a->callbacks = CompoundCaller::Callbacks::kIgnore;
  NfsStatus status;
  while ((status = nfs->named(kRemove, root_v3, "f").status) == NfsStatus::kJukebox) {
  }
  EXPECT_EQ(status, NfsStatus::kOk);
  EXPECT_EQ(a->status_flags(), kStateRevoked);
}

}  // namespace
}  // namespace stoa::test
