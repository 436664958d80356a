// State held of one file, as administrators see it.
#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

class HoldingsTest : public TableTest {
 protected:
  FileHoldings held(std::size_t most = 100) { return table().held_of(kFile, most); }
};

TEST_F(HoldingsTest, NothingOfAFileThatNobodyHas) {
  const Client a = client();
  ASSERT_TRUE(open(a, kShareRead, kShareNone, kOther));
  const FileHoldings none = held();
  EXPECT_EQ(none.opens.total + none.locks.total + none.leases.total + none.waits.total, 0u);
}

TEST_F(HoldingsTest, OpensOfOneHolderTogether) {
  const Client a = client(), b = client();
  const OpenId reads = *open(a, kShareRead);
  ASSERT_TRUE(open(a, kShareWrite, kShareNone));
  ASSERT_TRUE(open(b, kShareRead));
  FileHoldings now = held();
  ASSERT_EQ(now.opens.first.size(), 2u);
  EXPECT_EQ(now.opens.first[0].holder, a.id);
  EXPECT_EQ(now.opens.first[0].count, 2u);
  EXPECT_EQ(now.opens.first[0].access, kShareBoth);
  EXPECT_EQ(now.opens.first[0].deny, kShareNone);
  EXPECT_EQ(now.opens.first[1].access, kShareRead);
  table().close(reads);
  table().remove_holder(b.id);
  ASSERT_TRUE(open(a, kShareWrite, kShareRead));
  now = held();
  ASSERT_EQ(now.opens.first.size(), 1u);
  EXPECT_EQ(now.opens.first[0].count, 2u);
  EXPECT_EQ(now.opens.first[0].access, kShareWrite);
  EXPECT_EQ(now.opens.first[0].deny, kShareRead);
}

TEST_F(HoldingsTest, LocksOfAllKindsAndWhoWaits) {
  const Client a = client(), b = client();
  const LockOwner mine{a.id, "x"}, theirs{b.id, "y"};
  ASSERT_TRUE(table().lock(kFile, mine, {0, 10}, true));
  ASSERT_TRUE(table().lock(kFile, mine, {20, LockRange::kToEnd}, false));
  const OpenId open_of_b = *open(b, kShareBoth);
  ASSERT_TRUE(table().lock_mandatory(open_of_b, {12, 2}, true));
  ASSERT_FALSE(*table().lock_or_wait({kFile, theirs, {5, 1}, true}));
  ASSERT_TRUE(*table().lock_in_turn({kFile, theirs, {30, 1}, true}, {}));
  FileHoldings now = held();
  ASSERT_EQ(now.locks.first.size(), 3u);
  EXPECT_EQ(now.locks.first[0].holder, a.id);
  EXPECT_EQ(now.locks.first[0].range, (LockRange{0, 10}));
  EXPECT_TRUE(now.locks.first[0].exclusive && !now.locks.first[0].mandatory);
  EXPECT_EQ(now.locks.first[1].range, (LockRange{20, LockRange::kToEnd}));
  EXPECT_FALSE(now.locks.first[1].exclusive);
  EXPECT_EQ(now.locks.first[2].holder, b.id);
  EXPECT_TRUE(now.locks.first[2].mandatory);
  ASSERT_EQ(now.waits.first.size(), 2u);
  EXPECT_EQ(now.waits.first[0].holder, b.id);
  EXPECT_EQ(now.waits.first[0].range, (LockRange{5, 1}));
  // A client that stops polling has given up; a granted one waits no more.
  now_ += std::chrono::minutes(1);
  EXPECT_EQ(held().waits.total, 1u);
  table().unlock_all(kFile, mine);
  now = held();
  EXPECT_EQ(now.waits.total, 0u);
  ASSERT_EQ(now.locks.total, 2u);
  EXPECT_EQ(now.locks.first[0].holder, b.id);
}

TEST_F(HoldingsTest, LeasesUntilTheyLapse) {
  const Client a = client(), b = client();
  ASSERT_TRUE(grant(table(), kFile, a.id, kReadDelegation));
  ASSERT_TRUE(grant(table(), kFile, a.id, kKeepsHandle, {.low = 1}));
  FileHoldings now = held();
  ASSERT_EQ(now.leases.first.size(), 2u);
  EXPECT_EQ(now.leases.first[0].bits, kReadCaching);
  EXPECT_FALSE(now.leases.first[0].recalled);
  EXPECT_EQ(code(open(b, kShareWrite)), Errc::kRecallPending);
  now = held();
  EXPECT_TRUE(now.leases.first[0].recalled);
  EXPECT_FALSE(now.leases.first[1].recalled);
  EXPECT_EQ(now.opens.total, 0u);
  now_ += options_.lease_recall_timeout;
  now = held();
  ASSERT_EQ(now.leases.first.size(), 1u);
  EXPECT_EQ(now.leases.first[0].bits, kHandleCaching);
}

// A lease that is being granted has no holder yet.
TEST_F(HoldingsTest, NoLeaseThatIsOnlyTentative) {
  const Client a = client();
  std::uint64_t meanwhile = 1;
  files_.meanwhile = [&] { meanwhile = held().leases.total; };
  ASSERT_TRUE(grant(table(), kFile, a.id, kReadDelegation));
  EXPECT_EQ(meanwhile, 0u);
  EXPECT_EQ(held().leases.total, 1u);
}

TEST_F(HoldingsTest, NoMoreThanWasAskedFor) {
  const Client a = client();
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_TRUE(table().lock(kFile, {a.id, "o"}, {i * 10, 5}, true));
  ASSERT_TRUE(open(a, kShareRead));
  const FileHoldings few = held(2);
  EXPECT_EQ(few.locks.first.size(), 2u);
  EXPECT_EQ(few.locks.total, 5u);
  EXPECT_EQ(few.opens.total, 1u);
  EXPECT_TRUE(held(0).locks.first.empty());
  EXPECT_EQ(held(0).locks.total, 5u);
}

}  // namespace
}  // namespace stoa::core::test
