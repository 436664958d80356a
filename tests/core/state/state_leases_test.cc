#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class LeaseTest : public TableTest {
 protected:
  Errc change(const Client& who) {
    const Touched files[] = {{.file = kFile}};
    const Errc answer = code(table().before_mutate(who.ctx(), files));
    table().send_recalls();
    return answer;
  }
  Errc look(const Client& who) { return code(table().before_read(who.ctx(), kFile)); }
};

TEST_F(LeaseTest, IsRecalledOnceReturnedAndNotGivenAgainForAWhile) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kWriteDelegation);
  ASSERT_TRUE(lease);
  EXPECT_EQ(look(b), Errc::kRecallPending);
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_EQ(code(open(b, kShareRead)), Errc::kRecallPending);
  EXPECT_EQ(*a.recalled, (std::vector<Recalled>{{*lease, kFile}}));
  EXPECT_EQ(look(a), Errc{});
  EXPECT_EQ(change(a), Errc{});
  table().return_lease(*lease);
  EXPECT_FALSE(table().lease_revoked(*lease));
  EXPECT_EQ(look(b), Errc{});
  EXPECT_EQ(change(b), Errc{});
  EXPECT_FALSE(grant(table(), kFile, a.id, kReadDelegation));
  now_ += LeaseTerms{}.pause_after_change;
  EXPECT_TRUE(grant(table(), kFile, a.id, kReadDelegation));
}

TEST_F(LeaseTest, IsRevokedWhenItsHolderDoesNotAnswer) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kWriteDelegation);
  ASSERT_TRUE(lease);
  ASSERT_TRUE(open(a, kShareRead));
  EXPECT_EQ(change(b), Errc::kRecallPending);
  now_ += options_.lease_recall_timeout - std::chrono::milliseconds(1);
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_FALSE(table().lease_revoked(*lease));
  now_ += std::chrono::milliseconds(1);
  EXPECT_TRUE(table().lease_revoked(*lease));
  EXPECT_EQ(change(b), Errc{});
  EXPECT_TRUE(open(b, kShareBoth));  // only the lease is lost
  EXPECT_TRUE(table().lease_revoked(*lease));
  table().return_lease(*lease);
  EXPECT_FALSE(table().lease_revoked(*lease));
  EXPECT_EQ(a.recalled->size(), 1u);
}

TEST_F(LeaseTest, ForReadingIsSharedAndBrokenForAllAtOnce) {
  const Client a = client();
  const Client b = client();
  const Client c = client();
  const auto one = grant(table(), kFile, a.id, kReadDelegation);
  const auto two = grant(table(), kFile, b.id, kReadDelegation);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(look(c), Errc{});
  EXPECT_EQ(change(a), Errc::kRecallPending);  // that of b, not its own
  EXPECT_TRUE(a.recalled->empty());
  EXPECT_EQ(b.recalled->size(), 1u);
  EXPECT_EQ(change(c), Errc::kRecallPending);
  EXPECT_EQ(a.recalled->size(), 1u);
  EXPECT_EQ(b.recalled->size(), 1u);
  table().remove_holder(b.id);
  EXPECT_EQ(change(a), Errc{});
}

TEST_F(LeaseTest, IsNotGrantedWhileTheFileIsBeingChanged) {
  const Client a = client();
  const Client b = client();
  files_.busy.insert(kFile);
  EXPECT_FALSE(grant(table(), kFile, a.id, kReadDelegation));
  files_.busy.clear();
  // A change in between does not wait for a lease that no client knows of yet.
  files_.meanwhile = [&] { EXPECT_EQ(change(b), Errc{}); };
  EXPECT_FALSE(grant(table(), kFile, a.id, kReadDelegation));
  files_.meanwhile = nullptr;
  EXPECT_TRUE(a.recalled->empty());
  EXPECT_FALSE(table().holds_state(a.id));
  now_ += LeaseTerms{}.pause_after_change;
  EXPECT_TRUE(grant(table(), kFile, a.id, kReadDelegation));
  files_.gone.insert(kOther);
  EXPECT_FALSE(grant(table(), kOther, a.id, kReadDelegation));
}

TEST_F(LeaseTest, IsKeptAndNotRecalledAnyMoreWhenEventsAreMuted) {
  int told = 0;
  HolderCallbacks leaving;
  leaving.recalled = [&](const LeaseRecall&) { ++told; };
  const HolderId a = table().add_holder(Protocol::kNfs, &leaving), b = table().add_holder(Protocol::kNfs, &leaving);
  const Client other = client();
  ASSERT_TRUE(grant(table(), kFile, a, kReadDelegation));
  ASSERT_TRUE(grant(table(), kFile, b, kReadDelegation));
  ASSERT_TRUE(grant(table(), kFile, other.id, kReadDelegation));
  table().mute(leaving);
  EXPECT_EQ(code(open(client(), kShareWrite)), Errc::kRecallPending);
  EXPECT_EQ(told, 0);
  EXPECT_EQ(other.recalled->size(), 1u);
  EXPECT_TRUE(table().holds_state(a));
  EXPECT_TRUE(table().holds_state(b));
}

TEST_F(LeaseTest, MayBeReturnedByTheRecallItself) {
  std::optional<LeaseId> lease;
  const HolderId a =
      table().add_holder(Protocol::kNfs, on_recall([&](const LeaseRecall& r) { table().return_lease(r.lease); }));
  const Client b = client();
  lease = grant(table(), kFile, a, kReadDelegation);
  ASSERT_TRUE(lease);
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_EQ(change(b), Errc{});
}

TEST_F(LeaseTest, StopsAtTheLimit) {
  options_.leases_max = 1;
  const Client a = client();
  const auto one = grant(table(), kFile, a.id, kWriteDelegation);
  ASSERT_TRUE(one);
  EXPECT_FALSE(grant(table(), kOther, a.id, kReadDelegation));
  table().return_lease(*one);
  EXPECT_TRUE(grant(table(), kOther, a.id, kReadDelegation));
}

// --- levels, keys, terms

TEST_F(LeaseTest, LosesTheBitsThatAreInTheWayAndKeepsTheOthers) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kAll);
  ASSERT_TRUE(lease);
  const auto bits = [&] { return table().held_of(kFile, 1).leases.first.at(0).bits; };
  EXPECT_EQ(look(b), Errc::kRecallPending);
  EXPECT_EQ(code(table().acknowledge(*lease, kAllCaching)), Errc::kInvalid) << "more than is left";
  EXPECT_EQ(look(b), Errc::kRecallPending);
  EXPECT_TRUE(table().acknowledge(*lease, kReadCaching | kHandleCaching));
  EXPECT_EQ(bits(), kReadCaching | kHandleCaching);
  EXPECT_EQ(look(b), Errc{});
  EXPECT_EQ(*a.recalled, (std::vector<Recalled>{{*lease, kFile, kReadCaching | kHandleCaching}}));
  const FileId files[] = {kFile};
  EXPECT_EQ(code(table().before_name_goes(b.ctx(), files)), Errc::kRecallPending);
  table().send_recalls();
  EXPECT_EQ(a.recalled->back(), (Recalled{*lease, kFile, kReadCaching}));
  EXPECT_TRUE(table().acknowledge(*lease, kReadCaching));
  EXPECT_EQ(code(table().before_name_goes(b.ctx(), files)), Errc{});
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_EQ(a.recalled->back(), (Recalled{*lease, kFile, kLeaseNone}));
  EXPECT_EQ(code(table().acknowledge(*lease, kReadCaching)), Errc::kInvalid);
  EXPECT_TRUE(table().acknowledge(*lease, kLeaseNone));
  EXPECT_EQ(change(b), Errc{});
  EXPECT_FALSE(table().holds_state(a.id));
  EXPECT_EQ(code(table().acknowledge(*lease, kLeaseNone)), Errc::kInvalid);
}

TEST_F(LeaseTest, MayGiveUpBitsUnasked) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kAll);
  ASSERT_TRUE(lease);
  EXPECT_EQ(code(table().acknowledge(*lease, kWriteCaching)), Errc::kInvalid) << "not without read caching";
  EXPECT_TRUE(table().acknowledge(*lease, kReadCaching));
  EXPECT_EQ(look(b), Errc{});
  EXPECT_TRUE(a.recalled->empty());
}

TEST_F(LeaseTest, OfARequestMeetsALapsedOneAsRevokedWhichIsNotToBeKept) {
  const Client a = client();
  const Client b = client();
  const auto lease = grant(table(), kFile, a.id, kAll);
  ASSERT_TRUE(lease);
  EXPECT_EQ(look(b), Errc::kRecallPending);
  now_ += options_.lease_recall_timeout;
  EXPECT_EQ(code(table().acknowledge(*lease, kReadCaching)), Errc::kTimeout);
  EXPECT_EQ(look(b), Errc{});
  EXPECT_EQ(change(b), Errc{});
}

TEST_F(LeaseTest, ThatCachesIsBrokenByTheChangeAndADelegationByTheOpen) {
  const Client a = client();
  const Client b = client();
  const auto cache = grant(table(), kFile, a.id, kReads);
  const auto delegation = grant(table(), kOther, a.id, kReadDelegation);
  ASSERT_TRUE(cache && delegation);
  EXPECT_TRUE(open(b, kShareWrite));
  EXPECT_TRUE(open(b, kShareRead, kShareRead));
  EXPECT_TRUE(a.recalled->empty());
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_EQ(code(open(b, kShareWrite, kShareNone, kOther)), Errc::kRecallPending);
  EXPECT_EQ(a.recalled->size(), 2u);
  // So it can be had beside opens for writing.
  table().return_lease(*cache);
  now_ += LeaseTerms{}.pause_after_change;
  EXPECT_TRUE(grant(table(), kFile, a.id, kReads));
  EXPECT_FALSE(grant(table(), kFile, a.id, kReadDelegation, {.low = 1}));
}

TEST_F(LeaseTest, OfOneHolderConflictWhereTheirKeysDiffer) {
  const Client a = client();
  const LeaseKey one{.low = 1}, two{.high = 1};
  const auto lease = grant(table(), kFile, a.id, kAll, one);
  ASSERT_TRUE(lease);
  EXPECT_FALSE(grant(table(), kFile, a.id, kReads, two));
  EXPECT_TRUE(table().open({kFile, a.id, kShareBoth, kShareNone, one}));
  EXPECT_TRUE(a.recalled->empty());
  EXPECT_EQ(code(table().open({kFile, a.id, kShareRead, kShareNone, two})), Errc::kRecallPending);
  EXPECT_EQ(a.recalled->size(), 1u);
  OpContext through_one = a.ctx();
  through_one.lease_key = one;
  EXPECT_EQ(code(table().before_read(through_one, kFile)), Errc{});
  EXPECT_EQ(look(a), Errc::kRecallPending);
  ASSERT_TRUE(table().acknowledge(*lease, kReadCaching | kHandleCaching));
  EXPECT_TRUE(table().open({kFile, a.id, kShareRead, kShareNone, two}));
}

TEST_F(LeaseTest, GetsAsManyOfTheBitsAsMayBeHadAndMoreLater) {
  const Client a = client();
  const Client b = client();
  const auto other = open(b, kShareRead);
  ASSERT_TRUE(other);
  const auto some = table().grant_lease(kFile, {a.id, {}}, kAll);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->bits, kReadCaching | kHandleCaching);
  EXPECT_EQ(table().grant_lease(kFile, {a.id, {}}, kAll), some);
  table().close(*other);
  const auto all = table().grant_lease(kFile, {a.id, {}}, kAll);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->id, some->id);
  EXPECT_EQ(all->bits, kAllCaching);
  EXPECT_EQ(look(b), Errc::kRecallPending);
  EXPECT_EQ(table().grant_lease(kFile, {a.id, {}}, kReads), all) << "asks for less than it has";
  ASSERT_TRUE(table().acknowledge(all->id, kReadCaching));
  EXPECT_EQ(table().grant_lease(kFile, {a.id, {}}, kAll)->bits, kReadCaching | kHandleCaching)
      << "somebody looked: the write bit alone is paused";
  for (const std::uint32_t nonsense : {std::uint32_t{kLeaseNone}, std::uint32_t{kWriteCaching}, 8u}) {
    EXPECT_FALSE(table().grant_lease(kOther, {a.id, {}}, {.bits = nonsense})) << nonsense;
  }
}

TEST_F(LeaseTest, HasTheTermsOfItsHolder) {
  const Client patient = client();
  const Client quick = client({}, {.recall_timeout = std::chrono::seconds(1),
                                   .pause_after_look = std::chrono::seconds(2),
                                   .pause_after_change = std::chrono::seconds(3),
                                   .pause_after_name_change = std::chrono::seconds(4)});
  const Client b = client();
  const auto slow_lease = grant(table(), kOther, patient.id, kAll);
  ASSERT_TRUE(slow_lease);
  const Touched other[] = {{.file = kOther}};
  EXPECT_EQ(code(table().before_mutate(b.ctx(), other)), Errc::kRecallPending);
  const FileId files[] = {kFile};
  const std::vector<std::pair<std::function<Errc()>, std::chrono::seconds>> cases = {
      {[&] { return look(b); }, std::chrono::seconds(2)},
      {[&] { return change(b); }, std::chrono::seconds(3)},
      {[&] { return code(table().before_name_goes(b.ctx(), files)); }, std::chrono::seconds(4)}};
  for (const auto& [access, pause] : cases) {
    const auto lease = grant(table(), kFile, quick.id, kAll);
    ASSERT_TRUE(lease);
    EXPECT_EQ(access(), Errc::kRecallPending);
    now_ += std::chrono::milliseconds(999);
    EXPECT_FALSE(table().lease_revoked(*lease));
    now_ += std::chrono::milliseconds(1);
    EXPECT_TRUE(table().lease_revoked(*lease));
    EXPECT_EQ(access(), Errc{});
    table().return_lease(*lease);
    now_ += pause - std::chrono::seconds(1) - std::chrono::milliseconds(1);
    // A look pauses the write bit alone, the others all bits.
    const auto paused = table().grant_lease(kFile, {quick.id, {}}, kAll);
    EXPECT_EQ(paused ? paused->bits : kLeaseNone,
              pause == std::chrono::seconds(2) ? kReadCaching | kHandleCaching : 0u);
    if (paused) table().return_lease(paused->id);
    now_ += std::chrono::milliseconds(1);
  }
  EXPECT_TRUE(grant(table(), kFile, quick.id, kAll));
  EXPECT_FALSE(table().lease_revoked(*slow_lease)) << "9 s have passed";
}

// kFile is the only file of kDirectory.
class FilesLeaseTest : public LeaseTest {
 protected:
  static constexpr FileId kDirectory{200};
  FilesLeaseTest() {
    files_.directories.insert(kDirectory);
    files_.names[kFile] = {kDirectory};
  }
  std::uint32_t bits_of(const Client& who, FileId file, const LeaseRequest& wanted) {
    const auto granted = table().grant_lease(file, {who.id, {}}, wanted);
    return granted ? granted->bits : kLeaseNone;
  }
  Errc look_covered(const Client& who) {
    return code(table().before_look(who.ctx(), {.file = kFile, .directory = kDirectory}));
  }
};

TEST_F(FilesLeaseTest, IsOfDirectoriesOnly) {
  const Client a = client();
  EXPECT_EQ(bits_of(a, kFile, kFilesAll), kLeaseNone);
  files_.gone.insert(kDirectory);
  EXPECT_EQ(bits_of(a, kDirectory, kFilesAll), kLeaseNone);
  files_.gone.clear();
  EXPECT_EQ(bits_of(a, kDirectory, kFilesAll), kAllCaching);
}

TEST_F(FilesLeaseTest, ManyReadAndWritingIsAlone) {
  const Client a = client(), b = client();
  EXPECT_EQ(bits_of(a, kDirectory, kFilesReadAndHandle), kReadCaching | kHandleCaching);
  EXPECT_EQ(bits_of(b, kDirectory, kFilesAll), kReadCaching | kHandleCaching);
  EXPECT_EQ(bits_of(a, kDirectory, kFilesAll), kReadCaching | kHandleCaching);
}

TEST_F(FilesLeaseTest, LeavesOutWhatLeasesOfItsFilesConflictWith) {
  const Client a = client(), b = client();
  const auto lease = grant(table(), kFile, b.id, kReads);
  ASSERT_TRUE(lease);
  EXPECT_EQ(bits_of(a, kDirectory, kFilesAll), kReadCaching | kHandleCaching);
  EXPECT_EQ(bits_of(b, kFile, kAll), kReadCaching | kHandleCaching) << "and the other way round";
  table().return_lease(*lease);
  EXPECT_EQ(bits_of(a, kDirectory, kFilesAll), kAllCaching);
  EXPECT_EQ(bits_of(b, kFile, kAll), kLeaseNone) << "writing excludes all caches";
  EXPECT_EQ(bits_of(a, kFile, kAll), kAllCaching) << "but one's own";
}

TEST_F(FilesLeaseTest, ALookTakesTheWriteBitAndPausesItAlone) {
  const Client a = client(), b = client();
  const auto lease = grant(table(), kDirectory, a.id, kFilesAll);
  ASSERT_TRUE(lease);
  EXPECT_EQ(look_covered(a), Errc{});
  EXPECT_EQ(look_covered(b), Errc::kRecallPending);
  table().send_recalls();
  ASSERT_EQ(a.recalled->size(), 1u);
  EXPECT_EQ(a.recalled->front(), (Recalled{*lease, kDirectory, kReadCaching | kHandleCaching}));
  ASSERT_TRUE(table().acknowledge(*lease, kReadCaching | kHandleCaching));
  EXPECT_EQ(look_covered(b), Errc{});
  EXPECT_EQ(bits_of(a, kDirectory, kFilesAll), kReadCaching | kHandleCaching) << "no thrashing";
  EXPECT_EQ(table().held_of(kFile, 10).leases.first.size(), 1u);
}

TEST_F(FilesLeaseTest, OpensAndLocksOfOthersTakeTheWriteBit) {
  const Client a = client(), b = client();
  const auto lease = grant(table(), kDirectory, a.id, kFilesAll);
  ASSERT_TRUE(lease);
  EXPECT_TRUE(open(a, kShareBoth));
  EXPECT_EQ(code(open(b, kShareWrite)), Errc::kRecallPending);
  EXPECT_EQ(code(table().lock(kFile, {b.id, "o"}, {0, 1}, true)), Errc::kRecallPending);
  // A lock that somebody waits for may be granted at once: each access through it passes the gate.
  EXPECT_TRUE(table().lock_or_wait({kFile, {b.id, "o"}, {0, 1}, true}));
  EXPECT_EQ(look_covered(b), Errc::kRecallPending);
  ASSERT_EQ(a.recalled->size(), 1u);
  EXPECT_EQ(a.recalled->front().keeps, kReadCaching | kHandleCaching);
  ASSERT_TRUE(table().acknowledge(*lease, kReadCaching | kHandleCaching));
  EXPECT_TRUE(open(b, kShareWrite));
}

// After a restart: writers that may have cached, and those who wait for them.
class WritersTest : public TableTest {
 protected:
  void restart() {
    table_.reset();
    ASSERT_TRUE(table().load());
  }
  Errc look(HolderId holder, Protocol protocol = Protocol::kNfs) {
    OpContext ctx;
    ctx.holder = holder;
    ctx.protocol = protocol;
    return code(table().before_look(ctx, {.file = kFile}));
  }
  Errc change(HolderId holder) {
    OpContext ctx;
    ctx.holder = holder;
    ctx.protocol = Protocol::kS3;
    const Touched files[] = {{.file = kFile}};
    return code(table().before_mutate(ctx, files));
  }
};

TEST_F(WritersTest, AreWaitedForUntilAllAreBack) {
  ASSERT_TRUE(table().remember_writer(Protocol::kNative, "w"));
  ASSERT_TRUE(table().remember_writer(Protocol::kNative, "v"));
  ASSERT_TRUE(table().remember_client(Protocol::kNative, "reader"));
  EXPECT_EQ(look(kNoHolder), Errc{}) << "writers of this run have leases";
  restart();
  EXPECT_EQ(look(kNoHolder), Errc::kRecallPending);
  EXPECT_EQ(change(kNoHolder), Errc::kRecallPending);
  EXPECT_EQ(look(kNoHolder, Protocol::kInternal), Errc{}) << "the core's own work";
  int woken = 0;
  const auto wait = table().when_clear(kFile, [&] { ++woken; });
  ASSERT_TRUE(wait && *wait);
  EXPECT_EQ((*wait)->lapses, now_ + std::chrono::seconds(30));
  const auto stopped = table().when_clear(kFile, [] { ADD_FAILURE() << "waits no more"; });
  ASSERT_TRUE(stopped && *stopped);
  table().stop_waiting(**stopped);
  table().reclaim_done(Protocol::kNative, "w");
  table().reclaim_done(Protocol::kNative, "w");
  table().reclaim_done(Protocol::kNative, "reader");
  EXPECT_EQ(woken, 0);
  EXPECT_EQ(look(kNoHolder), Errc::kRecallPending);
  table().reclaim_done(Protocol::kNative, "v");
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(look(kNoHolder), Errc{});
  EXPECT_EQ(change(kNoHolder), Errc{});
  const auto none = table().when_clear(kFile, [] {});
  EXPECT_TRUE(none && !*none);
}

TEST_F(WritersTest, HaveThirtySeconds) {
  ASSERT_TRUE(table().remember_writer(Protocol::kNative, "w"));
  restart();
  now_ += std::chrono::seconds(30) - std::chrono::milliseconds(1);
  EXPECT_EQ(look(kNoHolder), Errc::kRecallPending);
  now_ += std::chrono::milliseconds(1);
  EXPECT_EQ(look(kNoHolder), Errc{});
  EXPECT_TRUE(table().in_grace()) << "which lasts longer";
  const Client late = client();
  EXPECT_FALSE(
      table().grant_lease(kFile, {late.id, {}}, {.bits = kAllCaching, .kind = LeaseKind::kCache, .reclaim = true}))
      << "others may have looked and changed meanwhile";
}

TEST_F(WritersTest, GetTheirLeasesBackAndNobodyElseGetsAny) {
  ASSERT_TRUE(table().remember_writer(Protocol::kNative, "w"));
  restart();
  const Client writer = client(), other = client();
  EXPECT_FALSE(grant(table(), kFile, other.id, kReads));
  const LeaseRequest back{.bits = kAllCaching, .kind = LeaseKind::kCache, .reclaim = true};
  ASSERT_TRUE(grant(table(), kFile, writer.id, back));
  EXPECT_FALSE(grant(table(), kFile, other.id, back)) << "it conflicts";
  EXPECT_EQ(change(writer.id), Errc{}) << "its own file";
  EXPECT_EQ(look(other.id), Errc::kRecallPending);
  table().reclaim_done(Protocol::kNative, "w");
  EXPECT_EQ(look(other.id), Errc::kRecallPending) << "because of the lease now";
  table().send_recalls();
  EXPECT_EQ(writer.recalled->size(), 1u);
}

TEST_F(WritersTest, StayWritersUntilTheyAreForgotten) {
  ASSERT_TRUE(table().remember_writer(Protocol::kNative, "w"));
  ASSERT_TRUE(table().remember_client(Protocol::kNative, "w"));
  restart();
  EXPECT_EQ(look(kNoHolder), Errc::kRecallPending) << "remembered again as a client, it is a writer as before";
  ASSERT_TRUE(table().forget_client(Protocol::kNative, "w"));
  EXPECT_EQ(look(kNoHolder), Errc{});
}

}  // namespace
}  // namespace stoa::core::test
