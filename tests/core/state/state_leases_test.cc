#include "tests/core/state/holder_callbacks.h"
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class LeaseTest : public TableTest {
 protected:
  Errc change(const Client& who) {
    const FileId files[] = {kFile};
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
  EXPECT_EQ(table().grant_lease(kFile, {a.id, {}}, kAll)->bits, kReadCaching) << "paused";
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
  const FileId other[] = {kOther};
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
    EXPECT_FALSE(grant(table(), kFile, quick.id, kAll));
    now_ += std::chrono::milliseconds(1);
  }
  EXPECT_TRUE(grant(table(), kFile, quick.id, kAll));
  EXPECT_FALSE(table().lease_revoked(*slow_lease)) << "9 s have passed";
}

}  // namespace
}  // namespace stoa::core::test
