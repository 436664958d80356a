// A file with names in several directories is charged to one of them, and no limit is passed when it loses that name.
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class ChargedElsewhereTest : public VolumeTest<Engine> {
 protected:
  // tenant/made holds `file` (100 bytes) as "f"; full, which has no room for it, as "g". The first name is gone.
  void SetUp() override {
    tenant_ = *this->mkdir(kRootId, "tenant");
    made_ = *this->mkdir(tenant_, "made");
    full_ = *this->mkdir(kRootId, "full");
    file_ = *this->create(made_, "f");
    ASSERT_TRUE(this->write(file_, 0, std::string(100, 'x')));
    ASSERT_TRUE(this->ns().link({}, {file_, full_, "g"}));
    ASSERT_TRUE(this->ns().set_quota({}, {full_, {.bytes = 99}}));
    ASSERT_TRUE(this->ns().unlink({}, {made_, "f"}));
  }

  FileId tenant_{}, made_{}, full_{}, file_{};
};
TYPED_TEST_SUITE(ChargedElsewhereTest, Engines);

TYPED_TEST(ChargedElsewhereTest, TheChargeStaysWhereThereIsRoomForIt) {
  EXPECT_EQ(this->usage(this->made_), (Usage{100, 1, 0}));
  EXPECT_EQ(this->usage(this->full_), Usage{});
  this->expect_consistent();
  ASSERT_TRUE(this->ns().unlink({}, {this->full_, "g"}));
  EXPECT_EQ(this->usage(this->made_), Usage{});
  EXPECT_EQ(this->usage(kRootId), (Usage{0, 0, 3}));
  this->expect_consistent();
}

TYPED_TEST(ChargedElsewhereTest, TheFileGrowsAtTheCostOfWhereItIsCharged) {
  ASSERT_TRUE(this->ns().set_quota({}, {this->tenant_, {.bytes = 150}}));
  EXPECT_FALSE(this->write(this->file_, 100, std::string(51, 'x')));
  EXPECT_TRUE(this->write(this->file_, 100, std::string(50, 'x')));
  EXPECT_EQ(this->usage(this->tenant_).bytes, 150);
  EXPECT_EQ(this->usage(this->full_).bytes, 0);
  this->expect_consistent();
}

TYPED_TEST(ChargedElsewhereTest, TheAccountOutlivesItsDirectory) {
  ASSERT_TRUE(this->ns().rmdir({}, {this->tenant_, "made"}));
  EXPECT_EQ(this->ns().getattr({}, {this->made_}).error().code, Errc::kStale);
  EXPECT_EQ(this->usage(this->tenant_), (Usage{100, 1, 0}));
  this->expect_consistent();
  ASSERT_TRUE(this->write(this->file_, 100, "y"));
  EXPECT_EQ(this->usage(this->tenant_).bytes, 101);
  this->expect_consistent();
  ASSERT_TRUE(this->ns().unlink({}, {this->full_, "g"}));
  EXPECT_EQ(this->usage(this->tenant_), Usage{});
  this->expect_consistent();
}

TYPED_TEST(ChargedElsewhereTest, TheAccountOfADirectoryThatIsGoneSurvivesARestart) {
  ASSERT_TRUE(this->ns().rmdir({}, {this->tenant_, "made"}));
  ASSERT_TRUE(this->ns().rmdir({}, {kRootId, "tenant"}));
  this->reopen();
  EXPECT_EQ(this->ns().getattr({}, {this->made_}).error().code, Errc::kStale);
  EXPECT_EQ(this->ns().create({}, {.parent = this->tenant_, .name = "x"}).error().code, Errc::kStale);
  this->expect_consistent();
  ASSERT_TRUE(this->write(this->file_, 100, "y"));
  EXPECT_EQ(this->usage(kRootId), (Usage{101, 1, 1}));
  ASSERT_TRUE(this->ns().unlink({}, {this->full_, "g"}));
  EXPECT_EQ(this->usage(kRootId), (Usage{0, 0, 1}));
  this->expect_consistent();
  this->reopen();
  this->expect_consistent();
}

TYPED_TEST(ChargedElsewhereTest, ItMovesWithTheDirectoryThatHoldsTheAccount) {
  const FileId other = *this->mkdir(kRootId, "other");
  ASSERT_TRUE(this->ns().rmdir({}, {this->tenant_, "made"}));
  ASSERT_TRUE(this->ns().rename({}, {kRootId, "tenant", other, "t"}));
  EXPECT_EQ(this->usage(other), (Usage{100, 1, 1}));
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
