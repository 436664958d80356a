// NLM version 4, call by call: XNFS chapter 14, and its effect on other versions and protocols.
#include <algorithm>
#include <set>

#include "tests/frontends/nfs/nlm/client_machine.h"
#include "tests/frontends/nfs/nlm/lock_caller.h"
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::uint64_t kEnd = ~std::uint64_t{0};

class NlmTest : public ProtocolTest {
 protected:
  explicit NlmTest(Store store = Store::kMemory) : ProtocolTest(store) {
    publish("test", {anyone()});
    options.client_portmapper_port = machine.port();
    begin();
    root = nfs->mount("/test").value_or(Handle{});
    file = nfs->create(root, "f");
  }
  void begin() {
    start_protocol();
    nfs = std::make_unique<NfsCaller>(port);
    a = std::make_unique<LockCaller>(port, "alpha");
    b = std::make_unique<LockCaller>(port, "beta");
  }
  // The lock that a GRANTED call is about.
  static WireLock granted(const CallIn& call) {
    EXPECT_EQ(call.program, 100'021u);
    EXPECT_EQ(call.procedure, kNlmGranted);
    rpc::XdrReader in(call.arguments);
    const nlm::Request request = nlm::read_test(in);
    EXPECT_TRUE(in.ok());
    return {request.lock.offset, request.lock.length, request.exclusive, request.lock.svid};
  }
  // The keeper works once a second; tests wait for its effect, without a time.
  template <class Done>
  static void until(Done done) {
    while (!done()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  ClientMachine machine;
  std::unique_ptr<NfsCaller> nfs;
  std::unique_ptr<LockCaller> a, b;
  Handle root, file;
};

TEST_F(NlmTest, NullAndVersions) {
  EXPECT_TRUE(a->tell(0, Xdr()));
  const auto reply = a->wire.call(a->spec(0, 100'021, 3));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->accept_status, 2u);
  EXPECT_EQ(reply->low, 4u);
  EXPECT_EQ(reply->high, 4u);
  const auto none = a->wire.call(a->spec(17));
  EXPECT_EQ(none->accept_status, 3u);
}

TEST_F(NlmTest, WhatHasLeftTheExportIsStaleAndCanBeGivenBack) {
  ASSERT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  const core::FileId exported = volume->registry().snapshot()->find_export("test")->root;
  ASSERT_TRUE(
      volume->ns().rename({}, {.from_parent = exported, .from_name = "f", .to_parent = core::kRootId, .to_name = "f"}));
  EXPECT_EQ(a->lock(file, {20, 10}), NlmStatus::kStaleHandle);
  EXPECT_EQ(b->test(file, {20, 10}), NlmStatus::kStaleHandle);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  ASSERT_TRUE(
      volume->ns().rename({}, {.from_parent = core::kRootId, .from_name = "f", .to_parent = exported, .to_name = "f"}));
  EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kGranted);
}

TEST_F(NlmTest, LocksAreSeenByOthersAndGivenBack) {
  EXPECT_EQ(a->lock(file, {10, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(file, {10, 10}), NlmStatus::kGranted);
  WireHolder holder;
  EXPECT_EQ(b->test(file, {0, 0}, &holder), NlmStatus::kDenied);
  EXPECT_TRUE(holder.exclusive);
  EXPECT_EQ(holder.svid, 1u);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(holder.owner.data()), holder.owner.size()), "1@alpha");
  EXPECT_EQ(holder.offset, 10u);
  EXPECT_EQ(holder.length, 10u);
  EXPECT_EQ(b->lock(file, {19, 1, false}), NlmStatus::kDenied);
  EXPECT_EQ(b->lock(file, {20, 0}), NlmStatus::kGranted);
  EXPECT_EQ(a->test(file, {30, 1, false, 1}, &holder), NlmStatus::kDenied);
  EXPECT_EQ(holder.length, 0u);  // to the end
  EXPECT_EQ(a->test(file, {0, 20}), NlmStatus::kGranted);
  EXPECT_EQ(a->unlock(file, {0, 15}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {10, 5, false}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {10, 6, false}), NlmStatus::kDenied);
  EXPECT_EQ(a->unlock(file, {0, 0}), NlmStatus::kGranted);
  EXPECT_EQ(a->unlock(file, {0, 0}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 0}), NlmStatus::kGranted);
}

TEST_F(NlmTest, ProcessesOfAMachineAndMachinesOfANameAreDistinct) {
  EXPECT_EQ(a->lock(file, {0, 1, true, 1}), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(file, {0, 1, true, 2}), NlmStatus::kDenied);
  EXPECT_EQ(b->lock(file, {0, 1, true, 1}), NlmStatus::kDenied);
  EXPECT_EQ(b->unlock(file, {0, 1, true, 1}), NlmStatus::kGranted);  // of state that it does not have
  EXPECT_EQ(b->lock(file, {0, 1, true, 1}), NlmStatus::kDenied);
}

TEST_F(NlmTest, RangesReachTheLastByteAndNotBeyond) {
  EXPECT_EQ(a->lock(file, {kEnd, 1}), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(file, {kEnd, 2}), NlmStatus::kTooBig);
  EXPECT_EQ(a->lock(file, {2, kEnd}), NlmStatus::kTooBig);
  EXPECT_EQ(a->test(file, {2, kEnd}), NlmStatus::kTooBig);
  EXPECT_EQ(a->unlock(file, {2, kEnd}), NlmStatus::kTooBig);
  EXPECT_EQ(a->cancel(file, {2, kEnd}), NlmStatus::kTooBig);
  EXPECT_EQ(b->lock(file, {1, kEnd}), NlmStatus::kDenied);
  EXPECT_EQ(b->lock(file, {0, kEnd}),
            NlmStatus::kDenied);  // to the last but one, where no file reaches: as good as the end
  EXPECT_EQ(b->lock(file, {0, kEnd - 1}), NlmStatus::kGranted);
}

TEST_F(NlmTest, HandlesAndFilesThatCannotBeLocked) {
  Handle altered = file;
  altered.back() ^= std::byte{1};
  EXPECT_EQ(a->lock(altered, {0, 1}), NlmStatus::kStaleHandle);
  EXPECT_EQ(a->unlock(altered, {0, 1}), NlmStatus::kStaleHandle);
  EXPECT_EQ(a->cancel(altered, {0, 1}), NlmStatus::kStaleHandle);
  EXPECT_EQ(a->test(altered, {0, 1}), NlmStatus::kStaleHandle);
  EXPECT_EQ(a->share(altered, 1, 0), NlmStatus::kStaleHandle);
  EXPECT_EQ(a->lock(root, {0, 1}), NlmStatus::kFailed);
  const Handle gone = nfs->create(root, "gone");
  EXPECT_EQ(nfs->status_of(kRemove, root, "gone"), NfsStatus::kOk);
  EXPECT_EQ(a->lock(gone, {0, 1}), NlmStatus::kStaleHandle);
}

TEST_F(NlmTest, RulesOfTheExportHold) {
  publish("read", {anyone(core::Squash::kNone, true)});
  const Handle made = nfs->create(root, "linked");
  const Handle read_root = nfs->mount("/read").value_or(Handle{});
  ASSERT_FALSE(read_root.empty());
  // A file of the read-only export, made from inside.
  const auto listed = nfs->create_call(read_root, "x", 0);
  EXPECT_EQ(listed.status, NfsStatus::kRoFs);
  core::OpContext ctx;
  const auto dir = volume->ns().lookup(ctx, {.parent = core::kRootId, .name = "read"});
  ASSERT_TRUE(dir);
  ASSERT_TRUE(volume->ns().create(ctx, {.parent = dir->attr.id, .name = "f"}));
  const Handle inside = nfs->lookup(read_root, "f").value_or(Handle{});
  EXPECT_EQ(a->lock(inside, {0, 1, false}), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(inside, {0, 1, true}), NlmStatus::kReadOnly);
  EXPECT_EQ(a->share(inside, 2, 0), NlmStatus::kReadOnly);
  EXPECT_EQ(a->share(inside, 1, 2), NlmStatus::kGranted);
}

TEST_F(NlmTest, WhoMayNotSeeTheContentMayNotLock) {
  ASSERT_TRUE(nfs->setattr(file, {.mode = 0400, .uid = 500, .gid = 500}).ok());
  LockCaller owner(port, "alpha", 500), other(port, "alpha", 501);
  EXPECT_EQ(owner.lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(other.lock(file, {5, 1}), NlmStatus::kFailed);
  EXPECT_EQ(other.test(file, {5, 1}), NlmStatus::kFailed);
  ASSERT_TRUE(nfs->setattr(file, {.mode = 0000}).ok());
  EXPECT_EQ(owner.lock(file, {1, 1}), NlmStatus::kGranted);
  ASSERT_TRUE(nfs->setattr(file, {.mode = 0404}).ok());
  EXPECT_EQ(other.lock(file, {5, 1, false}), NlmStatus::kGranted);
}

// Their lock managers come with AUTH_SYS all the same.
TEST_F(NlmTest, FilesOfMountsWithKerberosAreLockedByClaimsThatGiveNothingElse) {
  ASSERT_TRUE(nfs->setattr(file, {.mode = 0600, .uid = 500, .gid = 500}).ok());
  core::Export entry = *volume->registry().snapshot()->find_export("test");
  entry.security = {core::SecurityFlavor::kKrb5p, core::SecurityFlavor::kKrb5};
  ASSERT_TRUE(volume->registry().change_export(entry));
  EXPECT_EQ(nfs->status_of(kLookup, root, "f"), NfsStatus::kAccess);
  LockCaller other(port, "beta", 501);  // the mode denies this user, but its number says nothing here
  EXPECT_EQ(other.lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(file, {9, 1}), NlmStatus::kDenied);
  EXPECT_EQ(a->test(file, {9, 1}), NlmStatus::kDenied);
  EXPECT_EQ(a->lock(file, {9, 1}, true), NlmStatus::kBlocked);
  EXPECT_EQ(other.unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{9, 1}));
  // A share, which would keep others from the content, needs authentication.
  EXPECT_EQ(a->share(file, 1, 0), NlmStatus::kFailed);
  EXPECT_EQ(a->share(file, 1, 1), NlmStatus::kFailed);
  EXPECT_EQ(nfs->getattr(file).status, NfsStatus::kAccess);
  // The other rules of the export hold.
  EXPECT_EQ(a->lock(root, {0, 1}), NlmStatus::kFailed);
  entry.read_only = true;
  ASSERT_TRUE(volume->registry().change_export(entry));
  EXPECT_EQ(a->lock(file, {20, 1}), NlmStatus::kReadOnly);
  EXPECT_EQ(a->lock(file, {20, 1, false}), NlmStatus::kGranted);
  entry.clients = {};
  ASSERT_TRUE(volume->registry().change_export(entry));
  EXPECT_EQ(a->lock(file, {30, 1, false}), NlmStatus::kFailed);
}

TEST_F(NlmTest, WhatIsRefusedIsToldToAudit) {
  audit_denials();
  ASSERT_TRUE(nfs->setattr(file, {.mode = 0600, .uid = 500, .gid = 500}).ok());
  LockCaller owner(port, "alpha", 500), other(port, "beta", 501);
  EXPECT_EQ(owner.lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(other.lock(file, {20, 1}), NlmStatus::kFailed);
  // Locks of other owners, or stale files, are no denials, as for all protocols.
  EXPECT_EQ(b->lock(file, {5, 1}), NlmStatus::kDenied);
  EXPECT_EQ(b->lock(root, {0, 1}), NlmStatus::kFailed);
  core::Export entry = *volume->registry().snapshot()->find_export("test");
  const auto change = [&] { ASSERT_TRUE(volume->registry().change_export(entry)); };
  entry.read_only = true;
  change();
  EXPECT_EQ(owner.lock(file, {30, 1}), NlmStatus::kReadOnly);
  entry.security = {core::SecurityFlavor::kKrb5};
  change();
  EXPECT_EQ(owner.share(file, 1, 0), NlmStatus::kFailed);
  entry.clients = {};
  change();
  EXPECT_EQ(owner.test(file, {0, 1}), NlmStatus::kFailed);
  // A message is refused like a call, and once.
  EXPECT_TRUE(owner.tell(kNlmLockMsg, owner.arguments(kNlmLock, file, {0, 1})));
  EXPECT_EQ(owner.unlock(file, {0, 10}), NlmStatus::kGranted);  // checks no permission
  std::vector<std::string> told;
  for (const std::string& refusal : refusals())
    told.push_back(refusal.substr(0, 7) + refusal.substr(refusal.find(": ")));
  EXPECT_EQ(told, (std::vector<std::string>{"uid 501: nlm4 lock /test: the user may neither read nor write the file",
                                            "uid 500: nlm4 lock /test: the export is read-only for this client",
                                            "uid 500: nlm4 share /test: the export wants another security flavor",
                                            "uid 500: nlm4 test /test: the export has no rule for this address",
                                            "uid 500: nlm4 lock_msg /test: the export has no rule for this address"}));
}

TEST_F(NlmTest, AFloodOfRefusedLocksDoesNotFillTheJournal) {
  audit_denials();
  ASSERT_TRUE(nfs->setattr(file, {.mode = 0600, .uid = 500, .gid = 500}).ok());
  LockCaller other(port, "beta", 501);
  constexpr int kCalls = 2000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) ASSERT_EQ(other.lock(file, {0, 1}), NlmStatus::kFailed);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin).count() + 2;
  EXPECT_LE(refusals().size(), static_cast<std::size_t>(20 * seconds));  // DenialLimit::kPerSecond
}

TEST_F(NlmTest, GarbageIsToldAndChangesNothing) {
  const Xdr good = a->arguments(kNlmLock, file, {0, 1});
  for (std::size_t size = 0; size < good.bytes().size(); size += 4) {
    const auto reply = a->wire.call(a->spec(kNlmLock), std::span(good.bytes()).first(size));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->accept_status, 4u) << size;
  }
  EXPECT_EQ(
      a->wire.call(a->spec(kNlmShare), Xdr().string("c").string("n").opaque(file).string("o").u32(4).u32(1).u32(0))
          ->accept_status,
      4u);
  EXPECT_EQ(b->lock(file, {0, 0}), NlmStatus::kGranted);
}

TEST_F(NlmTest, ARepeatedCallGetsTheSameAnswer) {
  const Xdr lock = a->arguments(kNlmLock, file, {0, 1});
  const CallSpec once = a->spec(kNlmLock);
  ASSERT_TRUE(a->wire.call(once, lock));
  EXPECT_EQ(a->unlock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kGranted);
  const auto again = a->wire.call(once, lock);  // came late
  rpc::XdrReader in(again->results);
  EXPECT_EQ(nlm::read_answer(in).status, NlmStatus::kGranted);
  EXPECT_EQ(b->unlock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(b->test(file, {0, 0}), NlmStatus::kGranted);  // it locked nothing
}

// --- waiting

TEST_F(NlmTest, WhoWaitsIsCalledWhenTheLockIsGranted) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {5, 0}, true), NlmStatus::kBlocked);
  EXPECT_EQ(b->lock(file, {5, 0}, true), NlmStatus::kBlocked);  // it asks from time to time
  EXPECT_FALSE(machine.called());
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{5, 0}));
  EXPECT_EQ(a->test(file, {20, 1}), NlmStatus::kDenied);
  EXPECT_EQ(b->lock(file, {5, 0}), NlmStatus::kGranted);
}

TEST_F(NlmTest, WhoWaitsIsNotPassedByOthersThatWait) {
  LockCaller c(port, "gamma");
  EXPECT_EQ(a->lock(file, {0, 10, false}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(c.lock(file, {0, 10, false}, true), NlmStatus::kBlocked);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 10}));
  EXPECT_EQ(b->unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 10, false}));
}

TEST_F(NlmTest, WhoIsNotReachedIsCalledAgain) {
  machine.mute = 2;  // over TCP and UDP
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 10}));
  EXPECT_GE(metric("stoa_nfs_lock_grants_sent_total"), 2u);
}

TEST_F(NlmTest, WhoDoesNotWantItAnyMoreGivesWay) {
  LockCaller c(port, "gamma");
  machine.answer = NlmStatus::kDenied;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(c.lock(file, {0, 5}, true), NlmStatus::kBlocked);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 10}));
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 5}));
  until([&] { return a->test(file, {0, 10}) == NlmStatus::kGranted; });
  EXPECT_EQ(metric("stoa_nfs_lock_grants_refused_total"), 2u);
}

TEST_F(NlmTest, WhoAsksAgainHasItWhateverTheCallCameTo) {
  machine.answer = NlmStatus::kDeniedGracePeriod;  // not now
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  const CallIn call = machine.take();
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kGranted);
  // A late refusal: the cookie is unknown by then.
  rpc::XdrReader in(call.arguments);
  const auto cookie = nlm::read_test(in).cookie;
  EXPECT_TRUE(b->tell(kNlmGrantedRes, Xdr().opaque(cookie).u32(1)));
  EXPECT_EQ(a->test(file, {0, 10}), NlmStatus::kDenied);
}

TEST_F(NlmTest, ARefusalTakesNothingFromWhoAsksAgainMeanwhile) {
  machine.answer = NlmStatus::kDenied;
  for (int round = 0; round < 50; ++round) {
    ASSERT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
    ASSERT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
    ASSERT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
    if (round % 2 == 0) machine.take();
    ASSERT_EQ(b->lock(file, {0, 10}, round % 4 < 2), NlmStatus::kGranted);
    if (round % 2 != 0) machine.take();
    ASSERT_EQ(a->test(file, {0, 10}), NlmStatus::kDenied);
    ASSERT_EQ(b->unlock(file, {0, 10}), NlmStatus::kGranted);
  }
}

TEST_F(NlmTest, TheAnswerMayComeAsAMessage) {
  machine.answer = NlmStatus::kDeniedGracePeriod;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  const CallIn call = machine.take();
  rpc::XdrReader in(call.arguments);
  const auto cookie = nlm::read_test(in).cookie;
  EXPECT_TRUE(b->tell(kNlmGrantedRes, Xdr().opaque(cookie).u32(1)));
  EXPECT_EQ(a->test(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_TRUE(b->tell(kNlmGrantedRes, Xdr().string("short").u32(1)));
}

TEST_F(NlmTest, AWaitCanBeCancelled) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->cancel(file, {0, 10}), NlmStatus::kDenied);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(b->cancel(file, {0, 9}), NlmStatus::kDenied);
  EXPECT_EQ(b->cancel(file, {0, 10, false}), NlmStatus::kDenied);
  EXPECT_EQ(b->cancel(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->test(file, {0, 10, true, 2}), NlmStatus::kGranted);
  EXPECT_FALSE(machine.called());
}

TEST_F(NlmTest, ACancelTakesBackWhatWasGrantedMeanwhile) {
  machine.answer = NlmStatus::kDeniedGracePeriod;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  machine.take();
  EXPECT_EQ(b->cancel(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->test(file, {0, 10}), NlmStatus::kGranted);
}

TEST_F(NlmTest, ACycleIsADeadlock) {
  const Handle other = nfs->create(root, "g");
  EXPECT_EQ(a->lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(other, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(other, {0, 1}, true), NlmStatus::kBlocked);
  EXPECT_EQ(b->lock(file, {0, 1}, true), NlmStatus::kDeadlock);
  EXPECT_EQ(b->unlock(other, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 1}));
}

// --- messages

TEST_F(NlmTest, MessagesAreAnsweredByMessages) {
  const auto result = [&](std::uint32_t procedure) {
    const CallIn call = machine.take();
    EXPECT_EQ(call.program, 100'021u);
    EXPECT_EQ(call.procedure, procedure);
    rpc::XdrReader in(call.arguments);
    const nlm::Answer answer = nlm::read_answer(in);
    EXPECT_EQ(answer.cookie.size(), 6u);
    return answer.status;
  };
  EXPECT_TRUE(a->tell(kNlmLockMsg, a->arguments(kNlmLock, file, {0, 1})));
  EXPECT_EQ(result(kNlmLockRes), NlmStatus::kGranted);
  EXPECT_TRUE(b->tell(kNlmTestMsg, b->arguments(kNlmTest, file, {0, 1})));
  EXPECT_EQ(result(kNlmTestRes), NlmStatus::kDenied);
  EXPECT_TRUE(b->tell(kNlmCancelMsg, b->arguments(kNlmCancel, file, {0, 1})));
  EXPECT_EQ(result(kNlmCancelRes), NlmStatus::kDenied);
  EXPECT_TRUE(a->tell(kNlmUnlockMsg, a->arguments(kNlmUnlock, file, {0, 1})));
  EXPECT_EQ(result(kNlmUnlockRes), NlmStatus::kGranted);
  EXPECT_TRUE(a->tell(kNlmGrantedMsg, a->arguments(kNlmTest, file, {0, 1})));
  EXPECT_EQ(result(kNlmGrantedRes), NlmStatus::kDenied);  // the server does not wait
  EXPECT_EQ(a->call(kNlmGranted, a->arguments(kNlmTest, file, {0, 1})), NlmStatus::kDenied);
  for (std::uint32_t none = kNlmTestRes; none <= kNlmUnlockRes; ++none) EXPECT_TRUE(a->tell(none, Xdr()));
  EXPECT_EQ(a->wire.call(a->spec(kNlmLockMsg), Xdr().u32(9))->accept_status, 4u);
}

TEST_F(NlmTest, WhoNoExportLetsInIsNotAnswered) {
  Handle altered = file;
  altered.back() ^= std::byte{1};
  for (const std::uint32_t procedure : {kNlmTest, kNlmLock, kNlmCancel, kNlmUnlock}) {
    EXPECT_TRUE(a->tell(procedure + 5, a->arguments(procedure, altered, {0, 1})));
  }
  EXPECT_TRUE(a->tell(kNlmGrantedMsg, a->arguments(kNlmTest, altered, {0, 1})));
  // Calls to one machine go over one line, in order: nothing came before this one.
  EXPECT_TRUE(a->tell(kNlmUnlockMsg, a->arguments(kNlmUnlock, file, {0, 1})));
  EXPECT_EQ(machine.take().procedure, kNlmUnlockRes);
  EXPECT_FALSE(machine.called());
  // A known host gets an answer even for an invalid handle.
  EXPECT_EQ(a->lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_TRUE(a->tell(kNlmTestMsg, a->arguments(kNlmTest, altered, {0, 1})));
  EXPECT_EQ(machine.take().procedure, kNlmTestRes);
}

// --- share reservations

TEST_F(NlmTest, SharesDenyOthers) {
  EXPECT_EQ(a->share(file, 1, 2), NlmStatus::kGranted);
  EXPECT_EQ(a->share(file, 1, 2), NlmStatus::kGranted);  // the same again
  EXPECT_EQ(b->share(file, 2, 0), NlmStatus::kDenied);
  EXPECT_EQ(b->share(file, 1, 1), NlmStatus::kDenied);
  EXPECT_EQ(b->share(file, 0, 1), NlmStatus::kFailed);
  EXPECT_EQ(b->share(file, 1, 0), NlmStatus::kGranted);
  EXPECT_EQ(a->share(file, 1, 3), NlmStatus::kDenied);
  EXPECT_EQ(a->share(file, 1, 0), NlmStatus::kGranted);  // instead of the first
  EXPECT_EQ(b->share(file, 3, 0, "t"), NlmStatus::kGranted);
  EXPECT_EQ(b->unshare(file, "unknown"), NlmStatus::kGranted);
  EXPECT_EQ(a->share(file, 1, 2), NlmStatus::kDenied);
  EXPECT_EQ(b->unshare(file, "t"), NlmStatus::kGranted);
  EXPECT_EQ(a->share(file, 1, 2), NlmStatus::kGranted);
  EXPECT_EQ(a->unshare(file), NlmStatus::kGranted);
  EXPECT_EQ(b->unshare(file), NlmStatus::kGranted);
  EXPECT_EQ(metric("stoa_opens"), 0u);
}

// --- clients that end

TEST_F(NlmTest, FreeAllGivesAllBack) {
  const Handle other = nfs->create(root, "g");
  EXPECT_EQ(a->lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(a->share(file, 1, 2), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(other, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 1}, true), NlmStatus::kBlocked);
  EXPECT_EQ(a->lock(other, {0, 1}, true), NlmStatus::kDeadlock);
  EXPECT_TRUE(a->free_all());
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 1}));
  EXPECT_EQ(metric("stoa_opens"), 0u);
  EXPECT_EQ(metric("stoa_reclaim_clients"), 1u);
  EXPECT_EQ(a->test(other, {0, 1}), NlmStatus::kDenied);
}

TEST_F(NlmTest, AMachineThatHasStartedAnewLosesItsLocks) {
  a->state = 5;
  EXPECT_EQ(a->lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {5, 1}), NlmStatus::kGranted);
  EXPECT_TRUE(a->notify("alpha", 5));  // known
  EXPECT_EQ(b->test(file, {0, 1}), NlmStatus::kDenied);
  EXPECT_TRUE(a->notify("alpha.example.com", 7));
  EXPECT_EQ(b->test(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(a->test(file, {5, 1}), NlmStatus::kDenied);
  a->state = 7;
  // The news comes again, when it has new locks.
  EXPECT_EQ(a->lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_TRUE(a->notify("alpha", 7));
  EXPECT_EQ(b->test(file, {0, 1}), NlmStatus::kDenied);
  // A name that none of the machines at this address has: it may be any of them.
  EXPECT_TRUE(a->notify("unknown", 9));
  EXPECT_EQ(b->test(file, {0, 0}), NlmStatus::kGranted);
  EXPECT_EQ(a->wire.call(a->spec(6, 100'024, 1), Xdr().u32(7))->accept_status, 4u);
}

TEST_F(NlmTest, TheStatusMonitorMonitorsForNobody) {
  const auto words = [&](std::uint32_t procedure, const Xdr& arguments) {
    const auto reply = a->wire.call(a->spec(procedure, 100'024, 1), arguments);
    std::vector<std::uint32_t> all;
    if (!reply || reply->accept_status != 0) return all;
    for (rpc::XdrReader in(reply->results); in.left() >= 4;) all.push_back(in.u32());
    return all;
  };
  const Xdr me = Xdr().string("me").u32(1).u32(2).u32(3);
  EXPECT_TRUE(a->tell(0, Xdr(), 100'024, 1));
  EXPECT_EQ(words(1, Xdr().string("alpha")), (std::vector{1u, 1u}));  // fails; state 1, of the first start
  EXPECT_EQ(words(2, Xdr().string("alpha").raw(me).raw(Bytes(16))), (std::vector{1u, 1u}));
  EXPECT_EQ(words(3, Xdr().string("alpha").raw(me)), std::vector{1u});
  EXPECT_EQ(words(4, me), std::vector{1u});
  EXPECT_TRUE(a->tell(5, Xdr(), 100'024, 1));
  EXPECT_TRUE(words(2, Xdr().string("alpha").raw(me)).empty());
}

// --- other versions

TEST_F(NlmTest, LocksOfVersion4AndTheseConflict) {
  CompoundCaller v4(port, "v4");
  v4.connect();
  const auto open = v4.open(v4.handle_of({"test"}), "f", 3);
  ASSERT_EQ(open.status, Nfs4Status::kOk);
  auto locks = v4.lock(open.handle, open.stateid, "l", 0, 10);
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  WireHolder holder;
  EXPECT_EQ(a->test(file, {9, 1}, &holder), NlmStatus::kDenied);
  EXPECT_EQ(holder.svid, 0u);
  EXPECT_TRUE(holder.owner.empty());
  EXPECT_EQ(a->lock(file, {5, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(v4.unlock(open.handle, locks.stateid, 0, 10), Nfs4Status::kOk);
  EXPECT_EQ(granted(machine.take()), (WireLock{5, 10}));
  EXPECT_EQ(v4.lock_again(open.handle, locks.stateid, 0, 10).status, Nfs4Status::kDenied);
  EXPECT_EQ(a->share(file, 1, 1), NlmStatus::kDenied);  // it is open for reading
}

TEST_F(NlmTest, ThereIsOneOrderWithThoseOfVersion4WhoAskAgainAndAgain) {
  CompoundCaller v4(port, "v4");
  v4.back_channel = true;
  v4.connect();
  const auto open = v4.open(v4.handle_of({"test"}), "f", 3);
  EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kGranted);
  const auto ask = [&] { return v4.lock(open.handle, open.stateid, "l", 0, 10, true, false, true); };
  EXPECT_EQ(ask().status, Nfs4Status::kDenied);
  EXPECT_EQ(a->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  EXPECT_EQ(b->unlock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(v4.take_lock_notice().owner, "l");
  auto locks = ask();
  ASSERT_EQ(locks.status, Nfs4Status::kOk);
  EXPECT_FALSE(machine.called());
  EXPECT_EQ(v4.unlock(open.handle, locks.stateid, 0, 10), Nfs4Status::kOk);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 10}));
}

TEST_F(NlmTest, DelegationsAreRecalled) {
  CompoundCaller v4(port, "v4");
  v4.back_channel = true;
  v4.connect();
  const auto open = v4.open(v4.handle_of({"test"}), "f", 1, 0, false);
  ASSERT_EQ(open.delegation.type, 1u);
  EXPECT_EQ(a->lock(file, {0, 1, false}), NlmStatus::kGranted);     // read delegations allow no more than that
  EXPECT_EQ(a->lock(file, {0, 1}), NlmStatus::kDeniedGracePeriod);  // later
  v4.take_recall();
  EXPECT_EQ(a->lock(file, {0, 1}, true), NlmStatus::kBlocked);
  EXPECT_EQ(v4.return_delegation(open.handle, open.delegation.stateid), Nfs4Status::kOk);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 1}));
}

// --- clients that are gone

TEST_F(NlmTest, AClientThatComesWithANewerStateHasStartedAnewWithoutAWord) {
  a->state = 5;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  LockCaller again(port, "alpha");
  EXPECT_EQ(again.lock(file, {20, 1}), NlmStatus::kGranted);  // does not report its state
  EXPECT_FALSE(machine.called());
  again.state = 7;
  EXPECT_EQ(again.lock(file, {30, 1}), NlmStatus::kGranted);
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 10}));
  EXPECT_EQ(b->lock(file, {20, 1}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {30, 1}), NlmStatus::kDenied);
  EXPECT_EQ(a->lock(file, {40, 1}), NlmStatus::kGranted);  // an older one tells nothing
  EXPECT_TRUE(a->notify("alpha", 7));                      // no news
  EXPECT_EQ(b->lock(file, {30, 1}), NlmStatus::kDenied);
}

TEST_F(NlmTest, AdministratorsSeeAndEvictClients) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(file, {20, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->share(file, 1, 0), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 10}, true), NlmStatus::kBlocked);
  const auto clients = server->clients();
  const auto alpha = std::ranges::find(clients, "alpha", &nfs::ClientStatus::name);
  ASSERT_NE(alpha, clients.end());
  EXPECT_EQ(alpha->protocol, "nlm");
  EXPECT_EQ(alpha->address, "127.0.0.1");
  EXPECT_EQ(alpha->held.locks, 2);
  EXPECT_EQ(alpha->held.opens, 1);
  EXPECT_EQ(alpha->held.leases, 0);
  EXPECT_EQ(clients.size(), 2u);
  EXPECT_TRUE(server->evict(alpha->id));
  EXPECT_EQ(granted(machine.take()), (WireLock{0, 10}));
  EXPECT_EQ(server->evict(alpha->id).error().code, Errc::kNotFound);
  EXPECT_EQ(server->clients().size(), 1u);
  EXPECT_EQ(b->lock(file, {20, 10}), NlmStatus::kGranted);
  // It may come again, as if it had started anew.
  EXPECT_EQ(a->lock(file, {20, 10}), NlmStatus::kDenied);
  EXPECT_EQ(a->lock(file, {50, 10}), NlmStatus::kGranted);
}

TEST_F(NlmTest, AdministratorsSeeWhoHasAFile) {
  EXPECT_EQ(a->lock(file, {20, 10}), NlmStatus::kGranted);
  EXPECT_EQ(a->share(file, 1, 2), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 30}, true), NlmStatus::kBlocked);
  const auto clients = server->clients();
  const auto id_of = [&](std::string_view name) {
    return std::ranges::find(clients, name, &nfs::ClientStatus::name)->id;
  };
  core::OpContext ctx;
  const auto dir = volume->ns().lookup(ctx, {.parent = core::kRootId, .name = "test"});
  ASSERT_TRUE(dir);
  const auto found = volume->ns().lookup(ctx, {.parent = dir->attr.id, .name = "f"});
  ASSERT_TRUE(found);
  const core::FileHoldings held = volume->state().held_of(found->attr.id, 10);
  ASSERT_EQ(held.opens.first.size(), 1u);
  EXPECT_EQ(held.opens.first[0].holder, id_of("alpha"));
  EXPECT_EQ(held.opens.first[0].access, 1u);
  EXPECT_EQ(held.opens.first[0].deny, 2u);
  ASSERT_EQ(held.locks.first.size(), 1u);
  EXPECT_EQ(held.locks.first[0].holder, id_of("alpha"));
  EXPECT_EQ(held.locks.first[0].range, (core::LockRange{20, 10}));
  EXPECT_TRUE(held.locks.first[0].exclusive);
  ASSERT_EQ(held.waits.first.size(), 1u);
  EXPECT_EQ(held.waits.first[0].holder, id_of("beta"));
  EXPECT_EQ(held.waits.first[0].range, (core::LockRange{0, 30}));
}

class NlmClockTest : public NlmTest {
 protected:
  NlmClockTest() {
    a.reset();
    b.reset();
    nfs.reset();
    options.lease_clock = [this] {
      return std::chrono::steady_clock::time_point(std::chrono::minutes(minutes.load()));
    };
    server.reset();
    begin();
  }
  ~NlmClockTest() override { server.reset(); }
  // No connection from the locks' host is left; another one watches from elsewhere.
  void leave() {
    b = std::make_unique<LockCaller>(port, "beta", 0, 2);
    EXPECT_TRUE(b->tell(0, Xdr()));
    a.reset();
    nfs.reset();
    until([&] { return metric("stoa_nfs_connections") == 1; });
  }
  std::chrono::seconds silence_of(std::string_view name) {
    const auto clients = server->clients();
    const auto found = std::ranges::find(clients, name, &nfs::ClientStatus::name);
    return found == clients.end() ? std::chrono::seconds(-1) : found->silent;
  }
  std::atomic<std::int64_t> minutes{100'000};
};

TEST_F(NlmClockTest, WhoIsSilentIsCalledAndKeepsWhatItHasWhileItAnswers) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  leave();
  for (int day = 0; day < 2; ++day) {
    minutes += 25 * 60;
    const CallIn call = machine.take();
    EXPECT_EQ(call.program, 100'021u);
    EXPECT_EQ(call.procedure, 0u);
    until([&] { return silence_of("alpha").count() == 0; });
  }
  EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kDenied);
}

TEST_F(NlmClockTest, AnOpenConnectionIsASignOfLife) {
  machine.tcp = machine.udp = false;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  a.reset();  // the mount stays
  b = std::make_unique<LockCaller>(port, "beta", 0, 2);
  minutes += 25 * 60;
  until([&] { return silence_of("alpha").count() == 0; });
  EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kDenied);
  EXPECT_FALSE(machine.called());
}

TEST_F(NlmClockTest, WhoGivesNoSignForADayLosesItsLocks) {
  machine.tcp = machine.udp = false;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  leave();
  minutes += 24 * 60 - 1;
  EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kDenied);
  EXPECT_EQ(silence_of("alpha"), std::chrono::minutes(24 * 60 - 1));
  until([&] {
    minutes += 1;
    return b->lock(file, {0, 10}) == NlmStatus::kGranted;
  });
  EXPECT_EQ(silence_of("alpha").count(), -1);
}

// --- IPv6

class NlmIpv6Test : public ProtocolTest {
 protected:
  explicit NlmIpv6Test(Store store = Store::kMemory) : ProtocolTest(store) {
    publish("test", {anyone()});
    options.address = "::";
    options.client_portmapper_port = machine.port();
    begin();
    const Handle root = nfs->mount("/test").value_or(Handle{});
    file = nfs->create(root, "f");
  }
  void begin() {
    start_protocol();
    nfs = std::make_unique<NfsCaller>(port);
    a = std::make_unique<LockCaller>(port, "alpha", 0, WireClient::kIpv6);
    b = std::make_unique<LockCaller>(port, "beta");
  }
  ClientMachine machine{"::1"};
  std::unique_ptr<NfsCaller> nfs;
  std::unique_ptr<LockCaller> a, b;
  Handle file;
};

TEST_F(NlmIpv6Test, WhoWaitsIsCalledThere) {
  for (const bool tcp : {true, false}) {
    machine.tcp = tcp;
    EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kGranted);
    EXPECT_EQ(a->lock(file, {0, 10}, true), NlmStatus::kBlocked);
    EXPECT_EQ(b->unlock(file, {0, 10}), NlmStatus::kGranted);
    const CallIn call = machine.take();
    EXPECT_EQ(call.procedure, kNlmGranted);
    EXPECT_EQ(call.tcp, tcp);
    EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kDenied);
    EXPECT_EQ(a->unlock(file, {0, 10}), NlmStatus::kGranted);
  }
}

class NlmIpv6RestartTest : public NlmIpv6Test {
 protected:
  NlmIpv6RestartTest() : NlmIpv6Test(Store::kDisk) {}
};

TEST_F(NlmIpv6RestartTest, ClientsAreToldOfARestartThere) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  a.reset();
  b.reset();
  nfs.reset();
  restart();
  std::multiset<bool> by_address;
  for (int i = 0; i < 2; ++i) {
    const CallIn told = machine.take();
    EXPECT_EQ(told.program, 100'024u);
    rpc::XdrReader in(told.arguments);
    by_address.insert(in.string(1024) == "::1");
  }
  EXPECT_EQ(by_address, (std::multiset<bool>{false, true}));
  LockCaller again(port, "alpha", 0, WireClient::kIpv6);
  EXPECT_EQ(again.lock(file, {0, 10}, false, true), NlmStatus::kGranted);
}

// --- restarts of the server

class NlmRestartTest : public NlmTest {
 protected:
  NlmRestartTest() : NlmTest(Store::kDisk) {}
  void restart_all() {
    a.reset();
    b.reset();
    nfs.reset();
    restart();
    a = std::make_unique<LockCaller>(port, "alpha");
    b = std::make_unique<LockCaller>(port, "beta");
    nfs = std::make_unique<NfsCaller>(port);
  }
};

TEST_F(NlmRestartTest, LocksAreReclaimedWhileOthersWait) {
  LockCaller never(port, "gamma");
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_EQ(b->share(file, 1, 0), NlmStatus::kGranted);
  EXPECT_EQ(a->lock(file, {0, 10}, false, true), NlmStatus::kDenied);  // nothing to reclaim
  restart_all();
  // Clients are notified, by address and by name; the two datagrams may overtake each other.
  std::multiset<bool> by_address;
  for (int i = 0; i < 2; ++i) {
    const CallIn told = machine.take();
    EXPECT_EQ(told.program, 100'024u);
    EXPECT_EQ(told.procedure, 6u);
    rpc::XdrReader in(told.arguments);
    const auto name = in.string(1024);
    EXPECT_FALSE(name.empty());
    by_address.insert(name == "127.0.0.1");
    EXPECT_EQ(in.u32(), 3u);  // of the second start
  }
  EXPECT_EQ(by_address, (std::multiset<bool>{false, true}));
  LockCaller stranger(port, "gamma");
  EXPECT_EQ(b->lock(file, {50, 1}), NlmStatus::kDeniedGracePeriod);
  EXPECT_EQ(b->lock(file, {50, 1}, true), NlmStatus::kDeniedGracePeriod);
  EXPECT_EQ(b->test(file, {50, 1}), NlmStatus::kDeniedGracePeriod);
  EXPECT_EQ(b->share(file, 1, 0), NlmStatus::kDeniedGracePeriod);
  EXPECT_EQ(stranger.lock(file, {0, 10}, false, true), NlmStatus::kDenied);
  EXPECT_EQ(a->lock(file, {0, 10}, false, true), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {5, 1}, false, true), NlmStatus::kDenied);
  EXPECT_EQ(b->share(file, 1, 0, "s", true), NlmStatus::kGranted);
  EXPECT_EQ(b->unlock(file, {50, 1}), NlmStatus::kGranted);
}

TEST_F(NlmRestartTest, WhoGaveAllBackIsNotWaitedFor) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_TRUE(a->free_all());
  EXPECT_EQ(a->call(kNmLock, a->arguments(kNlmLock, file, {0, 10})), NlmStatus::kGranted);  // not monitored
  restart_all();
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_FALSE(machine.called());
}

TEST_F(NlmRestartTest, WhoWasEvictedIsNotWaitedFor) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  ASSERT_TRUE(server->evict(server->clients().front().id));
  restart_all();
  EXPECT_EQ(a->lock(file, {0, 10}, false, true), NlmStatus::kDenied);
  EXPECT_EQ(b->lock(file, {0, 10}), NlmStatus::kGranted);
}

TEST_F(NlmRestartTest, WhoStartedAnewWithoutAWordIsWaitedForOnce) {
  a->state = 5;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  a->state = 7;
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  EXPECT_TRUE(a->free_all());
  restart_all();
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kGranted);
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kGranted);
  b->state = 5;
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kGranted);
  b->state = 7;
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kGranted);
  restart_all();
  EXPECT_EQ(a->lock(file, {0, 1}), NlmStatus::kDeniedGracePeriod);
  EXPECT_EQ(b->lock(file, {0, 1}, false, true), NlmStatus::kGranted);
}

TEST_F(NlmRestartTest, AClientThatHasStartedAnewTooIsNotWaitedFor) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  restart_all();
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kDeniedGracePeriod);
  EXPECT_TRUE(a->notify("alpha", 9));
  EXPECT_EQ(b->lock(file, {0, 1}), NlmStatus::kGranted);
}

TEST_F(NlmRestartTest, ClientsThatAreNotReachedAreToldAgain) {
  EXPECT_EQ(a->lock(file, {0, 10}), NlmStatus::kGranted);
  machine.mute = 4;
  restart_all();
  EXPECT_EQ(machine.take().procedure, 6u);
  EXPECT_EQ(machine.take().procedure, 6u);
}

}  // namespace
}  // namespace stoa::test
