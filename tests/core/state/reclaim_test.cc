// Clients that may reclaim after a restart, and the grace time of the others.
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class ReclaimTest : public VolumeTest<Engine> {
 protected:
  StateTable& state() { return this->volume_->state(); }
};
TYPED_TEST_SUITE(ReclaimTest, Engines);

TYPED_TEST(ReclaimTest, NobodyIsWaitedForWhenNobodyHeldState) {
  EXPECT_FALSE(this->state().in_grace());
  this->reopen();
  EXPECT_FALSE(this->state().in_grace());
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "a"));
}

TYPED_TEST(ReclaimTest, GraceEndsWhenTheLastClientIsDone) {
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "a"));
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, std::string("b\0c", 3)));
  ASSERT_TRUE(this->state().remember_client(Protocol::kSmb, "s"));
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "left"));
  ASSERT_TRUE(this->state().forget_client(Protocol::kNfs, "left"));
  EXPECT_FALSE(this->state().in_grace());  // no client of this run has state to reclaim
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "a"));
  this->reopen();
  EXPECT_TRUE(this->state().in_grace());
  EXPECT_TRUE(this->state().may_reclaim(Protocol::kNfs, "a"));
  EXPECT_TRUE(this->state().may_reclaim(Protocol::kNfs, std::string("b\0c", 3)));
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "b"));
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "s"));
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "left"));
  // A new client is not one of before, and does not end the wait for them.
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "new"));
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "new"));
  this->state().reclaim_done(Protocol::kNfs, "new");
  this->state().reclaim_done(Protocol::kNfs, "a");
  this->state().reclaim_done(Protocol::kNfs, "a");
  this->state().reclaim_done(Protocol::kNfs, std::string("b\0c", 3));
  EXPECT_TRUE(this->state().in_grace());
  ASSERT_TRUE(this->state().forget_client(Protocol::kSmb, "s"));  // it has ended instead
  EXPECT_FALSE(this->state().in_grace());
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "a"));
  this->reopen();
  EXPECT_TRUE(this->state().may_reclaim(Protocol::kNfs, "a"));  // still remembered
  EXPECT_TRUE(this->state().may_reclaim(Protocol::kNfs, "new"));
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kSmb, "s"));
}

TYPED_TEST(ReclaimTest, WhoMissesGraceCannotComeBackAfterTheNextRestart) {
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "late"));
  this->options_.grace_ms = 0;
  this->reopen();
  EXPECT_FALSE(this->state().in_grace());
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "late"));
  this->options_.grace_ms = 90'000;
  this->reopen();
  EXPECT_FALSE(this->state().in_grace());
  EXPECT_FALSE(this->state().may_reclaim(Protocol::kNfs, "late"));
}

TYPED_TEST(ReclaimTest, AnIncarnationThatEndsDoesNotForgetTheNextOne) {
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "a"));
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "a"));
  ASSERT_TRUE(this->state().forget_client(Protocol::kNfs, "a"));
  this->reopen();
  EXPECT_TRUE(this->state().may_reclaim(Protocol::kNfs, "a"));
  ASSERT_TRUE(this->state().remember_client(Protocol::kNfs, "a"));
  ASSERT_TRUE(this->state().forget_client(Protocol::kNfs, "a"));
  this->reopen();
  EXPECT_FALSE(this->state().in_grace());
}

TYPED_TEST(ReclaimTest, NamesHaveALimit) {
  EXPECT_EQ(this->state().remember_client(Protocol::kNfs, "").error().code, Errc::kInvalid);
  EXPECT_EQ(this->state().remember_client(Protocol::kNfs, std::string(1041, 'n')).error().code, Errc::kInvalid);
  EXPECT_TRUE(this->state().remember_client(Protocol::kNfs, std::string(1024, 'n')));
  EXPECT_TRUE(this->state().forget_client(Protocol::kNfs, "unknown"));
}

}  // namespace
}  // namespace stoa::core::test
