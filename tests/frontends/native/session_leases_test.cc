// The leases of a session by themselves: crossing recalls, lapsed ones, limits.
#include "frontends/native/server/session_leases.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/frontends/nfs/v4/fake_state_table.h"

namespace stoa::test {
namespace {

using namespace native;  // NOLINT: of this protocol are all names here
using std::chrono::milliseconds;
using std::chrono::seconds;

// Only tells which leases are revoked, and notes those that were returned.
class RevokingTable final : public FakeStateTable {
 public:
  bool lease_revoked(core::LeaseId lease) const override { return revoked.contains(lease); }
  void return_lease(core::LeaseId lease) override { returned.insert(lease); }
  std::set<core::LeaseId> revoked, returned;
};

constexpr core::FileId kFile{100}, kOther{101};
constexpr core::LeaseId kLease{7}, kSecond{8};

core::LeaseRecall recall_of(core::LeaseId lease, std::uint32_t keeps = 0) {
  return {.holder = core::HolderId{1}, .lease = lease, .file = kFile, .keeps = keeps};
}

class SessionLeasesTest : public testing::Test {
 protected:
  void give(U64 number, core::FileId file, core::LeaseId lease, std::uint32_t bits = core::kAllCaching) {
    bool recalled = false;
    ASSERT_TRUE(leases.ask(number, file, core::LeaseKind::kCache));
    ASSERT_TRUE(leases.granted(number, {lease, bits}, recalled));
    ASSERT_FALSE(recalled);
  }
  SessionLeases leases;
  RevokingTable state;
  const SessionLeases::Clock::time_point now = SessionLeases::Clock::now();
};

TEST_F(SessionLeasesTest, ARecallThatComesBeforeItsGrantIsKept) {
  ASSERT_TRUE(leases.ask(1, kFile, core::LeaseKind::kCache));
  EXPECT_FALSE(leases.recalled(recall_of(kLease), now));
  EXPECT_TRUE(leases.take_unsent(10).empty());
  bool recalled = false;
  ASSERT_TRUE(leases.granted(1, {kLease, core::kReadCaching}, recalled));
  EXPECT_TRUE(recalled);
  const auto unsent = leases.take_unsent(10);
  ASSERT_EQ(unsent.size(), 1u);
  EXPECT_EQ(unsent[0].lease, 1u);
  EXPECT_EQ(unsent[0].subject, static_cast<U64>(kFile));
  EXPECT_TRUE(leases.take_unsent(10).empty());
}

TEST_F(SessionLeasesTest, RecallsOfOthersAreNotItsOwn) {
  EXPECT_FALSE(leases.recalled(recall_of(kLease), now));
  give(1, kFile, kLease);  // and that one was not kept for later
  EXPECT_EQ(leases.flags(state), 0u);
}

TEST_F(SessionLeasesTest, AnAnswerToAnEarlierRecallLeavesALaterOneOpen) {
  give(1, kFile, kLease);
  ASSERT_TRUE(leases.recalled(recall_of(kLease, core::kReadCaching), now));
  ASSERT_TRUE(leases.recalled(recall_of(kLease, core::kLeaseNone), now));
  leases.kept(1, core::kReadCaching);
  EXPECT_TRUE(leases.send_again());
  leases.kept(1, core::kLeaseNone);
  EXPECT_FALSE(leases.send_again());
  EXPECT_FALSE(leases.find(1));
}

TEST_F(SessionLeasesTest, AGivenUpNumberGetsNothingThatComesLater) {
  ASSERT_TRUE(leases.ask(1, kFile, core::LeaseKind::kCache));
  leases.forget(1);
  bool recalled = false;
  EXPECT_FALSE(leases.granted(1, {kLease, core::kReadCaching}, recalled));
  EXPECT_FALSE(leases.find(1));
  EXPECT_TRUE(leases.ask(2, kFile, core::LeaseKind::kCache));
  EXPECT_EQ(leases.refused(2), 0u);
  EXPECT_TRUE(leases.ask(3, kFile, core::LeaseKind::kCache));  // nothing is left of the one before
}

TEST_F(SessionLeasesTest, ANumberIsOfOneFileAndAFileHasOneNumber) {
  give(1, kFile, kLease, core::kReadCaching);
  EXPECT_FALSE(leases.ask(1, kOther, core::LeaseKind::kCache));
  EXPECT_FALSE(leases.ask(1, kFile, core::LeaseKind::kFiles));
  EXPECT_FALSE(leases.ask(2, kFile, core::LeaseKind::kCache));
  EXPECT_TRUE(leases.ask(1, kFile, core::LeaseKind::kCache));
  EXPECT_EQ(leases.refused(1), core::kReadCaching);
}

TEST_F(SessionLeasesTest, RepliesAreNoReasonToTrustWhileARecallIsOldAndThenTellOfTheLoss) {
  give(1, kFile, kLease);
  give(2, kOther, kSecond);
  const auto old = SessionLeases::Clock::now() - kRecallDoubtTime;
  ASSERT_TRUE(leases.recalled(recall_of(kSecond), SessionLeases::Clock::now()));
  EXPECT_EQ(leases.flags(state), 0u);  // a fresh one
  leases.kept(2, core::kReadCaching);  // nothing of it may stay: it is no answer
  leases.kept(2, core::kLeaseNone);
  ASSERT_TRUE(leases.recalled(recall_of(kLease), old));
  EXPECT_EQ(leases.flags(state), kRecallsUnanswered);
  state.revoked.insert(kLease);
  leases.find_lapsed(state, now + seconds(1));
  EXPECT_EQ(leases.flags(state), kLeasesWereLost);
  EXPECT_TRUE(state.returned.contains(kLease));
  EXPECT_FALSE(leases.find(1));
  EXPECT_FALSE(leases.ask(1, kFile, core::LeaseKind::kCache));  // until it was told
  EXPECT_EQ(leases.take_lost(0), std::vector<U64>{});
  EXPECT_EQ(leases.take_lost(10), std::vector<U64>{1});
  EXPECT_EQ(leases.take_lost(10), std::vector<U64>{});
  EXPECT_EQ(leases.flags(state), 0u);
  EXPECT_TRUE(leases.ask(3, kFile, core::LeaseKind::kCache));
}

TEST_F(SessionLeasesTest, ALostNumberMayBeGivenUpWithoutAList) {
  give(1, kFile, kLease);
  ASSERT_TRUE(leases.recalled(recall_of(kLease), now));
  state.revoked.insert(kLease);
  leases.find_lapsed(state, now);
  leases.forget(1);
  EXPECT_EQ(leases.flags(state), 0u);
}

TEST_F(SessionLeasesTest, BeyondTheLimitNothingIsAskedFor) {
  for (U64 number = 1; number <= kLeasesPerSessionMax; ++number)
    give(number, core::FileId{number}, core::LeaseId{number}, core::kReadCaching);
  EXPECT_FALSE(leases.ask(kLeasesPerSessionMax + 1, core::FileId{1 << 20}, core::LeaseKind::kCache));
  EXPECT_TRUE(leases.ask(1, core::FileId{1}, core::LeaseKind::kCache));
  leases.forget(2);
  EXPECT_TRUE(leases.ask(kLeasesPerSessionMax + 1, core::FileId{1 << 20}, core::LeaseKind::kCache));
}

}  // namespace
}  // namespace stoa::test
