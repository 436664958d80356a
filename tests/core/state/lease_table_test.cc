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
  const auto lease = table().grant_lease(kFile, a.id, LeaseKind::kWrite);
  ASSERT_TRUE(lease);
  EXPECT_EQ(table().lease_of(kFile, a.id), LeaseKind::kWrite);
  EXPECT_EQ(look(b), Errc::kRecallPending);
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_EQ(code(open(b, kShareRead)), Errc::kRecallPending);
  EXPECT_EQ(*a.recalled, (std::vector<Recalled>{{*lease, kFile}}));
  EXPECT_EQ(look(a), Errc{});
  EXPECT_EQ(change(a), Errc{});
  table().return_lease(*lease);
  EXPECT_FALSE(table().lease_revoked(*lease));
  EXPECT_FALSE(table().lease_of(kFile, a.id));
  EXPECT_EQ(look(b), Errc{});
  EXPECT_EQ(change(b), Errc{});
  EXPECT_FALSE(table().grant_lease(kFile, a.id, LeaseKind::kRead));
  now_ += VolumeState::kLeasePause;
  EXPECT_TRUE(table().grant_lease(kFile, a.id, LeaseKind::kRead));
}

TEST_F(LeaseTest, IsRevokedWhenItsHolderDoesNotAnswer) {
  const Client a = client();
  const Client b = client();
  const auto lease = table().grant_lease(kFile, a.id, LeaseKind::kWrite);
  ASSERT_TRUE(lease);
  ASSERT_TRUE(open(a, kShareRead));
  EXPECT_EQ(change(b), Errc::kRecallPending);
  now_ += options_.lease_recall_timeout - std::chrono::milliseconds(1);
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_FALSE(table().lease_revoked(*lease));
  now_ += std::chrono::milliseconds(1);
  EXPECT_TRUE(table().lease_revoked(*lease));
  EXPECT_FALSE(table().lease_of(kFile, a.id));
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
  const auto one = table().grant_lease(kFile, a.id, LeaseKind::kRead);
  const auto two = table().grant_lease(kFile, b.id, LeaseKind::kRead);
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
  EXPECT_FALSE(table().grant_lease(kFile, a.id, LeaseKind::kRead));
  files_.busy.clear();
  // A change that asks in between is not held up by what nobody knows of yet.
  files_.meanwhile = [&] { EXPECT_EQ(change(b), Errc{}); };
  EXPECT_FALSE(table().grant_lease(kFile, a.id, LeaseKind::kRead));
  files_.meanwhile = nullptr;
  EXPECT_TRUE(a.recalled->empty());
  EXPECT_FALSE(table().holds_state(a.id));
  now_ += VolumeState::kLeasePause;
  EXPECT_TRUE(table().grant_lease(kFile, a.id, LeaseKind::kRead));
  files_.gone.insert(kOther);
  EXPECT_FALSE(table().grant_lease(kOther, a.id, LeaseKind::kRead));
}

TEST_F(LeaseTest, MayBeReturnedByTheRecallItself) {
  std::optional<LeaseId> lease;
  const HolderId a = table().add_holder(Protocol::kNfs, [&](LeaseId id, FileId) { table().return_lease(id); });
  const Client b = client();
  lease = table().grant_lease(kFile, a, LeaseKind::kRead);
  ASSERT_TRUE(lease);
  EXPECT_EQ(change(b), Errc::kRecallPending);
  EXPECT_EQ(change(b), Errc{});
}

TEST_F(LeaseTest, StopsAtTheLimit) {
  options_.leases_max = 1;
  const Client a = client();
  const auto one = table().grant_lease(kFile, a.id, LeaseKind::kWrite);
  ASSERT_TRUE(one);
  EXPECT_FALSE(table().grant_lease(kOther, a.id, LeaseKind::kRead));
  table().return_lease(*one);
  EXPECT_TRUE(table().grant_lease(kOther, a.id, LeaseKind::kRead));
}

}  // namespace
}  // namespace stoa::core::test
