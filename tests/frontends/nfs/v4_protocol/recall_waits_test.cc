// Requests that meet the recall of a lease and wait for it in the server, of all versions: answered late, never, at
// once; sent again, given up, paid for.
#include <atomic>
#include <mutex>
#include <thread>

#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kOpRemove = 28, kOpSetattr = 34;

// A holder of leases in the volume itself, of no protocol.
class RecallWaitsTest : public ProtocolTest, public core::HolderEvents {
 protected:
  RecallWaitsTest() {
    publish("test", {anyone()});
    options.limits.waiting_max = 1024;
    options.scheduler = &volume->scheduler();
    begin();
  }
  ~RecallWaitsTest() override { volume->state().mute(*this); }
  void begin() {
    server.reset();
    start_protocol();
    nfs = std::make_unique<NfsCaller>(port);
    root = nfs->mount("/test").value_or(Handle{});
    b = std::make_unique<CompoundCaller>(port, "b", ++incarnation_);
    b->connect();
    root4 = b->handle_of({"test"});
    waits_before_ = metric("stoa_nfs_recall_waits_total");
  }
  void lease_recalled(const core::LeaseRecall& recall) override {
    if (at_once) volume->state().return_lease(recall.lease);
  }
  // A file of that name, with a lease that everybody meets.
  Handle leased(std::string_view name, std::string_view content = "content") {
    const Handle file = nfs->create(root, name, {.mode = 0666});
    EXPECT_EQ(nfs->write(file, 0, content), NfsStatus::kOk);
    id_ = core::FileId{nfs->attributes(file).fileid};
    lease(core::kReadCaching | core::kWriteCaching);
    return file;
  }
  void lease(std::uint32_t bits) {
    const core::HolderId holder = volume->state().add_holder(core::Protocol::kSmb, this);
    const auto granted =
        volume->state().grant_lease(id_, {holder, {}}, {.bits = bits, .kind = core::LeaseKind::kDelegation});
    ASSERT_TRUE(granted);
    lease_ = granted->id;
  }
  void give_back() { volume->state().return_lease(lease_); }
  void wait_for_waits(std::uint64_t n) {
    while (metric("stoa_nfs_recall_waits_total") < waits_before_ + n) std::this_thread::yield();
  }
  std::uint64_t waits() const { return metric("stoa_nfs_recall_waits_total") - waits_before_; }
  Bytes removal(std::string_view name) {
    const Xdr arguments = Xdr().opaque(root).string(name);
    return encode(nfs->spec(kRemove), arguments);
  }
  Ops sequenced(std::uint32_t number, const Ops& ops) const { return Ops().sequence(b->session, number).more(ops); }
  Ops remove4(std::string_view name) const { return Ops().putfh(root4).op(kOpRemove).string(name); }

  std::atomic<bool> at_once = false;
  std::unique_ptr<NfsCaller> nfs;
  Handle root;
  std::unique_ptr<CompoundCaller> b;
  Bytes root4;

 private:
  core::FileId id_{};
  core::LeaseId lease_{};
  std::uint64_t waits_before_ = 0;
  std::uint64_t incarnation_ = 0;
};

TEST_F(RecallWaitsTest, AChangeOfVersion3IsMadeOnceWhenTheLeaseIsBack) {
  leased("f");
  const Bytes call = removal("f");
  ASSERT_TRUE(nfs->wire.send_record(call));
  wait_for_waits(1);
  // Sent again while it waits, it is dropped; what else comes by the connection is answered.
  ASSERT_TRUE(nfs->wire.send_record(call));
  EXPECT_TRUE(nfs->getattr(root).ok());
  while (metric("stoa_nfs_drc_in_progress_total") != 1) std::this_thread::yield();
  give_back();
  EXPECT_TRUE(NfsResult(nfs->wire.receive()).ok());
  EXPECT_EQ(nfs->status_of(kLookup, root, "f"), NfsStatus::kNoEnt);
  // And once more, when it is done: the reply is known.
  ASSERT_TRUE(nfs->wire.send_record(call));
  EXPECT_TRUE(NfsResult(nfs->wire.receive()).ok());
  EXPECT_EQ(waits(), 1u);
}

TEST_F(RecallWaitsTest, LargeReadsAndWritesWaitToo) {
  const std::string much(200'000, 'x');
  const Handle file = leased("f", much);
  ASSERT_TRUE(nfs->wire.send_record(
      encode(nfs->spec(kWrite), Xdr().opaque(file).u64(0).u32(150'000).u32(2).string(std::string(150'000, 'y')))));
  ASSERT_TRUE(nfs->wire.send_record(encode(nfs->spec(kRead), Xdr().opaque(file).u64(150'000).u32(50'000))));
  ASSERT_TRUE(nfs->wire.send_record(encode(nfs->spec(kRead), Xdr().opaque(file).u64(0).u32(200'000))));
  wait_for_waits(3);
  give_back();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(NfsResult(nfs->wire.receive()).ok());
  EXPECT_EQ(nfs->read(file), std::string(150'000, 'y') + std::string(50'000, 'x'));
}

TEST_F(RecallWaitsTest, AHolderThatAnswersAtOnceHoldsUpNobody) {
  at_once = true;
  leased("f");
  EXPECT_EQ(nfs->status_of(kRemove, root, "f"), NfsStatus::kOk);
  leased("g");
  EXPECT_TRUE(b->call(remove4("g")).ok());
}

TEST_F(RecallWaitsTest, AHolderThatNeverAnswersIsWaitedForNoLonger) {
  options.limits.recall_patience = std::chrono::milliseconds(1);
  begin();
  const Handle file = leased("f");
  EXPECT_EQ(nfs->status_of(kRemove, root, "f"), NfsStatus::kJukebox);
  EXPECT_EQ(nfs->read_call(file, 0, 100).status, NfsStatus::kJukebox);
  EXPECT_EQ(nfs->write(file, 0, std::string(100'000, 'x')), NfsStatus::kJukebox);
  EXPECT_EQ(b->call(remove4("f")).status, Nfs4Status::kDelay);
  wait_for_waits(4);
  give_back();
  EXPECT_EQ(nfs->read(file), "content");
  EXPECT_TRUE(b->call(remove4("f")).ok());
}

TEST_F(RecallWaitsTest, BeyondTheLimitsItIsAnsweredAtOnce) {
  options.limits.waiting_per_connection_max = 1;
  begin();
  const Handle file = leased("f");
  ASSERT_TRUE(nfs->wire.send_record(removal("f")));
  wait_for_waits(1);
  EXPECT_EQ(nfs->write(file, 0, "x"), NfsStatus::kJukebox);
  EXPECT_EQ(metric("stoa_nfs_recall_waits_refused_total"), 1u);
  give_back();
  EXPECT_TRUE(NfsResult(nfs->wire.receive()).ok());
}

TEST_F(RecallWaitsTest, ACallWhoseConnectionIsClosedIsAsIfItHadNotCome) {
  leased("f");
  const Bytes call = removal("f");
  ASSERT_TRUE(nfs->wire.send_record(call));
  wait_for_waits(1);
  ASSERT_TRUE(nfs->wire.send_record(Bytes(8)));  // no call
  EXPECT_TRUE(nfs->wire.closed_by_server());
  // By another connection it is a new call: it waits as well.
  nfs = std::make_unique<NfsCaller>(port);
  ASSERT_TRUE(nfs->wire.send_record(call));
  wait_for_waits(2);
  EXPECT_EQ(metric("stoa_nfs_drc_in_progress_total"), 0u);
  give_back();
  EXPECT_TRUE(NfsResult(nfs->wire.receive()).ok());
}

TEST_F(RecallWaitsTest, AClientThatFinishesSendingIsToldToComeLater) {
  leased("f");
  ASSERT_TRUE(nfs->wire.send_record(removal("f")));
  wait_for_waits(1);
  nfs->wire.finish_sending();
  EXPECT_EQ(NfsResult(nfs->wire.receive()).status, NfsStatus::kJukebox);
  EXPECT_TRUE(nfs->wire.closed_by_server());
  give_back();
}

TEST_F(RecallWaitsTest, ADrainAnswersWhatWaits) {
  leased("f");
  ASSERT_TRUE(nfs->wire.send_record(removal("f")));
  ASSERT_TRUE(b->post(sequenced(b->sequence++, remove4("f"))));
  wait_for_waits(2);
  EXPECT_TRUE(server->drain(std::chrono::seconds(30)));
  EXPECT_EQ(NfsResult(nfs->wire.receive()).status, NfsStatus::kJukebox);
  EXPECT_EQ(b->take().status, Nfs4Status::kDelay);
  give_back();
}

TEST_F(RecallWaitsTest, AStopDropsWhatWaits) {
  leased("f");
  ASSERT_TRUE(nfs->wire.send_record(removal("f")));
  wait_for_waits(1);
  server.reset();
  give_back();
  EXPECT_FALSE(nfs->wire.receive());
}

TEST_F(RecallWaitsTest, TheSlotOfASessionIsInUseWhileItsCompoundWaits) {
  leased("f");
  const std::uint32_t number = b->sequence++;
  ASSERT_TRUE(b->post(sequenced(number, remove4("f"))));
  wait_for_waits(1);
  CompoundCaller again(port, "b");
  EXPECT_EQ(again.send(sequenced(number, remove4("f"))).status, Nfs4Status::kDelay);
  EXPECT_EQ(again.send(sequenced(number + 1, {})).status, Nfs4Status::kDelay);
  give_back();
  EXPECT_TRUE(b->take().ok());
  EXPECT_TRUE(again.send(sequenced(number, remove4("f"))).ok()) << "the reply is remembered";
  EXPECT_EQ(b->call(remove4("f")).status, Nfs4Status::kNoEnt);
}

TEST_F(RecallWaitsTest, HalfTheSlotsOfASessionAreLeftForOtherThings) {
  b = std::make_unique<CompoundCaller>(port, "few slots");
  b->slots = 3;
  b->connect();
  leased("f");
  ASSERT_TRUE(b->post(Ops().sequence(b->session, 1, 1).more(remove4("f"))));
  wait_for_waits(1);
  EXPECT_EQ(b->send(Ops().sequence(b->session, 1, 2).more(remove4("f"))).status, Nfs4Status::kDelay);
  give_back();
  EXPECT_TRUE(b->take().ok());
  // The room is given back with the slot.
  leased("g");
  ASSERT_TRUE(b->post(Ops().sequence(b->session, 2, 1).more(remove4("g"))));
  wait_for_waits(2);
  give_back();
  EXPECT_TRUE(b->take().ok());
}

TEST_F(RecallWaitsTest, TheSlotOfACompoundWhoseConnectionIsClosedIsAsBefore) {
  leased("f");
  const std::uint32_t number = b->sequence++;
  ASSERT_TRUE(b->post(sequenced(number, remove4("f"))));
  wait_for_waits(1);
  const auto old = b->reconnect(port);
  ASSERT_TRUE(old->send_record(Bytes(8)));  // no call
  EXPECT_TRUE(old->closed_by_server());
  ASSERT_TRUE(b->post(sequenced(number, remove4("f"))));
  wait_for_waits(2);
  give_back();
  EXPECT_TRUE(b->take().ok());
  EXPECT_TRUE(b->send(sequenced(number, remove4("f"))).ok()) << "the reply is remembered";
}

TEST_F(RecallWaitsTest, ACompoundThatHasChangedSomethingDoesNotWait) {
  leased("f");
  const Handle other = nfs->create(root, "other", {.mode = 0600});
  const Bytes other4 = b->handle_of({"test", "other"});
  const Ops changes = Ops().putfh(other4).op(kOpSetattr).stateid(WireStateid{}).u32(2).u32(0).u32(2).u32(4).u32(0640);
  EXPECT_EQ(b->call(Ops().more(changes).more(remove4("f"))).status, Nfs4Status::kDelay);
  EXPECT_EQ(waits(), 0u);
  EXPECT_EQ(nfs->attributes(other).mode, 0640u);
  // Operations that only look and move may come before.
  const Ops looks = Ops().putrootfh().lookup("test").op(9).u32(1).u32(2).getfh().op(kOpRemove).string("f");
  ASSERT_TRUE(b->post(sequenced(b->sequence++, looks)));
  wait_for_waits(1);
  const std::string counter = "stoa_nfs4_operations_total{operation=\"lookup\"}";
  const std::uint64_t lookups = metric(counter);
  give_back();
  auto result = b->take();
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.count, 6u);
  EXPECT_EQ(metric(counter), lookups) << "an operation is counted once";
}

TEST_F(RecallWaitsTest, AnOpenOfMinorVersion0KeepsItsOwnersOrder) {
  leased("f");
  Caller40 c(port, "c");
  c.connect();
  const Bytes dir = c.handle_of({"test"});
  const auto first = c.open_confirmed(dir, "mine", 1);
  ASSERT_EQ(first.status, Nfs4Status::kOk);
  const std::uint32_t seqid = first.must_confirm() ? 3 : 2;
  // The open, and the same by another connection.
  Caller40 again(port, "c");
  again.client = c.client;
  Caller40::Open opened, twice;
  std::thread one([&] { opened = c.open(dir, "f", seqid, {.access = kOpenWrite, .create = false}); });
  std::thread two([&] { twice = again.open(dir, "f", seqid, {.access = kOpenWrite, .create = false}); });
  wait_for_waits(2);
  give_back();
  one.join();
  two.join();
  ASSERT_EQ(opened.status, Nfs4Status::kOk);
  ASSERT_EQ(twice.status, Nfs4Status::kOk);
  EXPECT_EQ(opened.stateid.other, twice.stateid.other);
  EXPECT_EQ(opened.stateid.seqid, twice.stateid.seqid) << "the second one is a retry";
  EXPECT_EQ(c.close(opened.handle, opened.stateid, seqid + 1).status, Nfs4Status::kOk);
}

TEST_F(RecallWaitsTest, WhatWaitsHasPaid) {
  const Handle file = leased("f");
  const core::QosTarget target = core::QosTarget::directory(core::kRootId);
  core::QosRule rule{.target = target};
  rule.limits.limit[qos::Resource::kWriteBytes] = 1'000'000'000;
  ASSERT_TRUE(volume->registry().set_qos_class(rule));
  const auto paid = [&] {
    return volume->registry()
        .snapshot()
        ->qos_classes()
        ->find(target)
        ->qos_class->use()
        .admitted[qos::Resource::kWriteBytes];
  };
  ASSERT_TRUE(nfs->wire.send_record(
      encode(nfs->spec(kWrite), Xdr().opaque(file).u64(0).u32(1000).u32(2).string(std::string(1000, 'x')))));
  // The handle is not the first of the COMPOUND: what it writes is not foreseen.
  Ops ops = Ops().putfh(root4).putfh(file).op(38).stateid(WireStateid{}).u64(0).u32(2).string(std::string(500, 'y'));
  ASSERT_TRUE(b->post(sequenced(b->sequence++, ops)));
  wait_for_waits(2);
  give_back();
  EXPECT_TRUE(NfsResult(nfs->wire.receive()).ok());
  EXPECT_TRUE(b->take().ok());
  EXPECT_EQ(paid(), 1500u);
}

TEST_F(RecallWaitsTest, ADelegationIsRecalledFromAClientAndTheOtherGoesOn) {
  CompoundCaller a(port, "a");
  a.back_channel = true;
  a.connect();
  const Handle file = nfs->create(root, "f", {.mode = 0666});
  const auto open = a.open(root4, "f", kOpenRead, 0, false);
  ASSERT_EQ(open.delegation.type, 1u);
  ASSERT_TRUE(b->post(sequenced(b->sequence++, remove4("f"))));
  a.take_recall();
  wait_for_waits(1);
  EXPECT_EQ(a.return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
  EXPECT_TRUE(b->take().ok());
  EXPECT_EQ(waits(), 1u);
}

}  // namespace
}  // namespace stoa::test
