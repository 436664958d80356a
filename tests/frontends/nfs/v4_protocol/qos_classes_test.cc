// Calls that wait for their QoS classes: NFSv3 and NFSv4 by hand, at one server. A limit of a byte a second makes the
// second write wait for ever, so nothing here depends on time.
#include <future>
#include <thread>

#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

const std::string kMuch(40'000, 'x');

class QosClassesTest : public ProtocolTest {
 protected:
  // Background work pays the QoS classes of the volume, too.
  QosClassesTest() : ProtocolTest(Store::kMemory, {.background = false}) {}
  void SetUp() override {
    publish("test", {anyone()});
    start_with(volume->scheduler());
  }
  void start_with(qos::Scheduler& scheduler) {
    options.scheduler = &scheduler;
    server.reset();
    start_protocol();
    ann = std::make_unique<NfsCaller>(port, 1001, 1001);
    bob = std::make_unique<NfsCaller>(port, 1002, 1002);
    root = ann->mount("/test").value_or(Handle{});
  }
  core::QosRule limit(const core::QosTarget& target, qos::Resource resource) {
    core::QosRule rule{.target = target};
    rule.limits.limit[resource] = 1;
    rule.limits.burst = qos::kBurstMin;
    return rule;
  }
  void set(const core::QosRule& rule) { ASSERT_TRUE(volume->registry().set_qos_class(rule)); }
  qos::QosUse use(const core::QosTarget& target) {
    return volume->registry().snapshot()->qos_classes()->find(target)->qos_class->use();
  }
  void wait_until_parked(std::size_t count) {
    while (volume->scheduler().parked() != count) std::this_thread::yield();
  }
  // Sends the call and does not wait for its reply.
  static void send(NfsCaller& caller, std::uint32_t procedure, const Xdr& arguments) {
    ASSERT_TRUE(caller.wire.send_record(encode(caller.spec(procedure), arguments)));
  }
  static Xdr write_arguments(const Handle& file) {
    const std::string_view bytes = kMuch;
    return Xdr().opaque(file).u64(0).u32(static_cast<std::uint32_t>(bytes.size())).u32(2).string(bytes);
  }

  std::unique_ptr<NfsCaller> ann, bob;
  Handle root;
};

TEST_F(QosClassesTest, WhatIsOverWaitsAloneAndIsAnsweredWhenTheLimitGoes) {
  const core::QosTarget target = core::QosTarget::user(1001);
  const Handle file = ann->create(root, "ann", {.mode = 0666});
  const Handle other = bob->create(root, "bob", {.mode = 0666});
  set(limit(target, qos::Resource::kWriteBytes));
  EXPECT_EQ(ann->write(file, 0, kMuch), NfsStatus::kOk) << "the first one goes into debt";
  send(*ann, kWrite, write_arguments(file));
  wait_until_parked(1);
  // Neither her own other calls wait, by the same connection, nor writes of others.
  EXPECT_TRUE(ann->getattr(file).ok());
  EXPECT_EQ(ann->read(file), kMuch);
  EXPECT_EQ(bob->write(other, 0, kMuch), NfsStatus::kOk);
  EXPECT_EQ(volume->scheduler().parked(), 1u);
  ASSERT_TRUE(volume->registry().remove_qos_class(target));
  const NfsResult late(ann->wire.receive());
  EXPECT_TRUE(late.ok());
  EXPECT_EQ(volume->scheduler().parked(), 0u);
  while (metric("stoa_nfs_calls_parked_total") != 1)
    std::this_thread::yield();  // counted by the thread that parked it, which may be late
}

TEST_F(QosClassesTest, AChangeThatIsMadeOnceWaitsToo) {
  const core::QosTarget target = core::QosTarget::directory(core::kRootId);
  ann->create(root, "f");
  core::QosRule rule = limit(target, qos::Resource::kMetadataOps);
  set(rule);
  // Two at once: the first goes into debt, for a second, and then another; many wait behind it.
  constexpr int kMany = 20;
  for (int i = 0; i < kMany; ++i)
    send(*ann, kMkdir, test::put(Xdr().opaque(root).string("d" + std::to_string(i)), {.mode = 0700}));
  while (volume->scheduler().parked() == 0) std::this_thread::yield();
  ASSERT_TRUE(volume->registry().remove_qos_class(target));
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(NfsResult(ann->wire.receive()).ok());
  EXPECT_EQ(ann->names(root).size(), 2u + 1 + kMany);
}

TEST_F(QosClassesTest, WhatAClientHasParkedGoesWithItsConnection) {
  const Handle file = ann->create(root, "ann", {.mode = 0666});
  set(limit(core::QosTarget::user(1001), qos::Resource::kWriteBytes));
  ASSERT_EQ(ann->write(file, 0, kMuch), NfsStatus::kOk);
  for (int i = 0; i < 3; ++i) send(*ann, kWrite, write_arguments(file));
  wait_until_parked(3);
  ann.reset();
  wait_until_parked(0);
}

TEST_F(QosClassesTest, ClientsThatComeAndGoLeaveNothingWaiting) {
  core::QosRule rule = limit(core::QosTarget::directory(core::kRootId), qos::Resource::kMetadataOps);
  rule.limits.limit[qos::Resource::kMetadataOps] = 2000;
  set(rule);
  std::vector<std::jthread> clients;
  for (int client = 0; client < 6; ++client) {
    clients.emplace_back([&, client] {
      for (int round = 0; round < 20; ++round) {
        NfsCaller caller(port, 1001, 1001);
        for (int i = 0; i < 5; ++i) send(caller, kGetattr, Xdr().opaque(root));
        // Every other one is gone before its replies come.
        for (int i = 0; (client + round) % 2 == 0 && i < 5; ++i) EXPECT_TRUE(NfsResult(caller.wire.receive()).ok());
      }
    });
  }
  for (std::uint64_t rate = 1000; rate < 1030; ++rate) {
    rule.limits.limit[qos::Resource::kMetadataOps] = rate;
    set(rule);
  }
  clients.clear();
  ASSERT_TRUE(volume->registry().remove_qos_class(rule.target));
  wait_until_parked(0);
}

TEST_F(QosClassesTest, TheServerStopsWhileCallsWait) {
  const Handle file = ann->create(root, "ann", {.mode = 0666});
  set(limit(core::QosTarget::user(1001), qos::Resource::kWriteBytes));
  ASSERT_EQ(ann->write(file, 0, kMuch), NfsStatus::kOk);
  for (int i = 0; i < 3; ++i) send(*ann, kWrite, write_arguments(file));
  wait_until_parked(3);
  EXPECT_TRUE(server->drain(std::chrono::seconds(30)));
  server.reset();
  EXPECT_EQ(volume->scheduler().parked(), 0u);
}

TEST_F(QosClassesTest, ACompoundWaitsAndGoesOnWhereItWas) {
  CompoundCaller four(port, "four", 1, 1001);
  four.connect();
  const Bytes dir = four.handle_of({"test"});
  const auto opened = four.open(dir, "f", kOpenBoth);
  ASSERT_EQ(opened.status, Nfs4Status::kOk);
  set(limit(core::QosTarget::protocol(core::Protocol::kNfs), qos::Resource::kWriteBytes));
  ASSERT_EQ(four.write(opened.handle, opened.stateid, kMuch), Nfs4Status::kOk);
  auto late = std::async(std::launch::async, [&] { return four.write(opened.handle, opened.stateid, kMuch); });
  wait_until_parked(1);
  ASSERT_TRUE(volume->registry().remove_qos_class(core::QosTarget::protocol(core::Protocol::kNfs)));
  EXPECT_EQ(late.get(), Nfs4Status::kOk);
  EXPECT_EQ(four.close(opened.handle, opened.stateid), Nfs4Status::kOk);
}

TEST_F(QosClassesTest, IoThatCouldNotBeForeseenPaysWhenItComes) {
  CompoundCaller four(port, "four", 1, 1001);
  four.connect();
  const Bytes dir = four.handle_of({"test"});
  const auto opened = four.open(dir, "f", kOpenBoth);
  ASSERT_EQ(four.write(opened.handle, opened.stateid, kMuch), Nfs4Status::kOk);
  const core::QosTarget target = core::QosTarget::protocol(core::Protocol::kNfs);
  set({.target = target});
  const Ops read = Ops().op(25).stateid({}).u64(0).u32(1000);
  const Ops read_plus = Ops().op(68).stateid({}).u64(0).u32(1000);
  const Ops write = Ops().op(38).stateid(opened.stateid).u64(0).u32(2).string(kMuch);
  const Ops other_type = Ops().op(17).u32(1).u32(1u << 1).u32(4).u32(2);  // NVERIFY: it is no directory
  const Ops foreseen = Ops().putfh(opened.handle).more(read);
  const Ops hidden[] = {Ops().putrootfh().lookup("test").lookup("f").more(read),
                        Ops().putfh(opened.handle).more(other_type).more(read),
                        Ops().putfh(dir).putfh(opened.handle).more(read), Ops().putfh(dir).lookup("f").more(read_plus),
                        Ops().putfh(opened.handle).op(32).putfh(dir).op(31).more(read)};
  std::uint64_t bytes = 0;
  const auto admitted = [&](qos::Resource resource) { return use(target).admitted[resource]; };
  EXPECT_TRUE(four.call(foreseen).ok());
  EXPECT_EQ(admitted(qos::Resource::kReadBytes), bytes += 1000);
  for (const Ops& ops : hidden) {
    EXPECT_TRUE(four.call(ops, 2).ok());
    EXPECT_EQ(admitted(qos::Resource::kReadBytes), bytes += 1000);
  }
  EXPECT_TRUE(four.call(Ops().putfh(opened.handle).more(read).more(other_type).more(read)).ok());
  EXPECT_EQ(admitted(qos::Resource::kReadBytes), bytes += 2000);
  EXPECT_TRUE(four.call(Ops().putfh(opened.handle).more(other_type).more(write)).ok());
  EXPECT_EQ(admitted(qos::Resource::kWriteBytes), kMuch.size());
  // Over the limit it does not wait, and is not done either.
  set(limit(target, qos::Resource::kReadBytes));
  EXPECT_TRUE(four.call(foreseen).ok()) << "the first one goes into debt";
  for (const Ops& ops : hidden) EXPECT_EQ(four.call(ops, 2).status, Nfs4Status::kDelay);
  EXPECT_EQ(volume->scheduler().parked(), 0u);
}

TEST_F(QosClassesTest, WithAFullQueueClientsAreToldToAskAgain) {
  qos::Scheduler full({.parked_max = 0});
  start_with(full);
  CompoundCaller four(port, "four", 1, 1001);
  four.connect();
  const Bytes dir = four.handle_of({"test"});
  const auto opened = four.open(dir, "f", kOpenBoth);
  ASSERT_EQ(opened.status, Nfs4Status::kOk);
  const Handle file = ann->create(root, "ann", {.mode = 0666});
  const core::QosTarget target = core::QosTarget::user(1001);
  set(limit(target, qos::Resource::kWriteBytes));
  ASSERT_EQ(ann->write(file, 0, kMuch), NfsStatus::kOk);
  EXPECT_EQ(ann->write(file, 0, kMuch), NfsStatus::kJukebox);
  // The reply has the results of a failed WRITE: no attributes at all.
  NfsResult busy = ann->call(kWrite, write_arguments(file));
  EXPECT_EQ(busy.in.left(), 8u);

  const Ops write = Ops().putfh(opened.handle).op(38).stateid(opened.stateid).u64(0).u32(2).string(kMuch);
  const Ops whole = Ops().sequence(four.session, four.sequence).more(write);
  {
    CompoundResult refused = four.send(whole);
    EXPECT_EQ(refused.status, Nfs4Status::kDelay);
    ASSERT_EQ(refused.count, 1u);
    EXPECT_EQ(refused.next(53), Nfs4Status::kDelay);
    EXPECT_EQ(refused.in.left(), 0u);
  }
  ASSERT_TRUE(volume->registry().remove_qos_class(target));
  EXPECT_TRUE(four.send(whole).ok()) << "the same slot, with the same sequence number";
  ++four.sequence;
  EXPECT_EQ(four.close(opened.handle, opened.stateid), Nfs4Status::kOk);
  server.reset();  // before its scheduler
}

TEST_F(QosClassesTest, WhatGivesSomethingBackIsNeverHeldUp) {
  CompoundCaller four(port, "four", 1, 1001);
  four.connect();
  const Bytes dir = four.handle_of({"test"});
  const auto opened = four.open(dir, "f", kOpenBoth);
  ASSERT_EQ(opened.status, Nfs4Status::kOk);
  core::QosRule rule = limit(core::QosTarget::directory(core::kRootId), qos::Resource::kMetadataOps);
  rule.limits.burst = std::chrono::hours(1);
  set(rule);
  EXPECT_EQ(four.close(opened.handle, opened.stateid), Nfs4Status::kOk);
  EXPECT_EQ(use(rule.target).admitted[qos::Resource::kMetadataOps], 0u);
  EXPECT_TRUE(four.call(Ops().putfh(dir).op(9).u32(0)).ok());
  EXPECT_EQ(use(rule.target).admitted[qos::Resource::kMetadataOps], 1u);
}

TEST_F(QosClassesTest, EveryQosClassOnThePathOfACallIsPaid) {
  const Handle dir = ann->mkdir(root, "dir", {.mode = 0777});
  const Handle file = ann->create(dir, "f", {.mode = 0666});
  const Handle beside = ann->create(root, "beside", {.mode = 0666});
  const auto id_of = [&](const Handle& handle) { return volume->handles().decode(handle)->id; };
  const core::QosTarget about[] = {core::QosTarget::directory(core::kRootId),
                                   core::QosTarget::protocol(core::Protocol::kNfs),
                                   core::QosTarget::of_export(volume->registry().snapshot()->find_export("test")->id),
                                   core::QosTarget::clients(*core::Network::parse("127.0.0.0/8")),
                                   core::QosTarget::group(1001),
                                   core::QosTarget::user(1001)};
  const core::QosTarget below = core::QosTarget::directory(id_of(dir));
  const core::QosTarget none[] = {core::QosTarget::protocol(core::Protocol::kS3), core::QosTarget::group(7),
                                  core::QosTarget::clients(*core::Network::parse("10.0.0.0/8"))};
  for (const auto& target : about) set({.target = target});
  for (const auto& target : none) set({.target = target});
  set({.target = below});
  ASSERT_EQ(ann->write(file, 0, "0123456789"), NfsStatus::kOk);
  ASSERT_EQ(ann->write(beside, 0, "01234"), NfsStatus::kOk);
  ASSERT_EQ(ann->read(file, 0, 100), "0123456789");
  ASSERT_TRUE(ann->getattr(dir).ok());
  for (const auto& target : about) {
    const qos::QosUse used = use(target);
    EXPECT_EQ(used.admitted[qos::Resource::kWriteBytes], 15u);
    EXPECT_EQ(used.admitted[qos::Resource::kWriteOps], 2u);
    EXPECT_EQ(used.admitted[qos::Resource::kReadBytes], 100u);
    EXPECT_EQ(used.admitted[qos::Resource::kReadOps], 1u);
    EXPECT_EQ(used.admitted[qos::Resource::kMetadataOps], 1u);
  }
  EXPECT_EQ(use(below).admitted[qos::Resource::kWriteBytes], 10u);
  EXPECT_EQ(use(below).admitted[qos::Resource::kMetadataOps], 1u);
  for (const auto& target : none) EXPECT_EQ(use(target).admitted[qos::Resource::kWriteOps], 0u);

  // A directory that moves takes its QoS class along, and pays for its new parents.
  const Handle upper = ann->mkdir(root, "upper", {.mode = 0777});
  set({.target = core::QosTarget::directory(id_of(upper))});
  ASSERT_TRUE(ann->rename_call(root, "dir", upper, "dir").ok());
  ASSERT_EQ(ann->write(file, 0, "0123456789"), NfsStatus::kOk);
  EXPECT_EQ(use(below).admitted[qos::Resource::kWriteBytes], 20u);
  EXPECT_EQ(use(core::QosTarget::directory(id_of(upper))).admitted[qos::Resource::kWriteBytes], 10u);
  // A file that moves leaves both.
  ASSERT_TRUE(ann->rename_call(dir, "f", root, "f").ok());
  ASSERT_EQ(ann->write(file, 0, "0123456789"), NfsStatus::kOk);
  EXPECT_EQ(use(below).admitted[qos::Resource::kWriteBytes], 20u);
  EXPECT_EQ(use(core::QosTarget::directory(id_of(upper))).admitted[qos::Resource::kWriteBytes], 10u);
}

TEST_F(QosClassesTest, WithoutQosClassesOfUsersAndGroupsOthersArePaidToo) {
  const Handle dir = ann->mkdir(root, "dir", {.mode = 0777});
  const core::QosTarget of_dir = core::QosTarget::directory(volume->handles().decode(dir)->id);
  const core::QosTarget of_export = core::QosTarget::of_export(volume->registry().snapshot()->find_export("test")->id);
  const core::QosTarget networks[] = {core::QosTarget::clients(*core::Network::parse("127.0.0.0/8")),
                                      core::QosTarget::clients(*core::Network::parse("10.0.0.0/8"))};
  for (const auto& target : {of_dir, of_export, networks[0], networks[1]}) set({.target = target});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ann->getattr(dir).ok());
  for (const auto& target : {of_dir, of_export, networks[0]})
    EXPECT_EQ(use(target).admitted[qos::Resource::kMetadataOps], 3u);
  EXPECT_EQ(use(networks[1]).admitted[qos::Resource::kMetadataOps], 0u);
}

TEST_F(QosClassesTest, OfCallsThatCameTogetherOnlyThoseWaitThatAreOver) {
  const Handle dir = ann->mkdir(root, "dir", {.mode = 0777});
  const Handle limited = ann->create(dir, "f", {.mode = 0666}), free = ann->create(root, "f", {.mode = 0666});
  const core::QosTarget target = core::QosTarget::directory(volume->handles().decode(dir)->id);
  set(limit(target, qos::Resource::kWriteBytes));
  ASSERT_EQ(ann->write(limited, 0, kMuch), NfsStatus::kOk) << "the first one goes into debt";
  Xdr all;
  constexpr std::size_t kMany = 4;
  for (std::size_t i = 0; i < kMany; ++i) {
    for (const Handle& file : {limited, free}) {
      const Bytes record = encode(ann->spec(kWrite), write_arguments(file));
      all.u32(0x8000'0000 | static_cast<std::uint32_t>(record.size())).raw(record);
    }
  }
  ASSERT_TRUE(ann->wire.send_raw(all));
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_TRUE(NfsResult(ann->wire.receive()).ok());
  wait_until_parked(kMany);
  ASSERT_TRUE(volume->registry().remove_qos_class(target));
  for (std::size_t i = 0; i < kMany; ++i) EXPECT_TRUE(NfsResult(ann->wire.receive()).ok());
}

}  // namespace
}  // namespace stoa::test
