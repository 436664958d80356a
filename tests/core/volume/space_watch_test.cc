#include "core/volume/space_watch.h"

#include <gtest/gtest.h>

namespace stoa::core {
namespace {

class SpaceWatchTest : public testing::Test {
 protected:
  // The kinds of the events that this brings.
  std::vector<std::string> used(std::uint64_t percent) {
    const std::uint64_t before = log_.newest();
    watch_.look({.total = 1000, .free = 1000 - 10 * percent});
    std::vector<std::string> kinds;
    for (const Event& event : log_.after(before)) kinds.push_back(event.what + " " + std::string(to_string(event.severity)));
    return kinds;
  }
  using Kinds = std::vector<std::string>;

  MetricRegistry metrics_;
  EventLog log_{metrics_};
  SpaceWatch watch_{log_};
};

TEST_F(SpaceWatchTest, EachStepIsToldOnce) {
  EXPECT_EQ(used(50), Kinds{});
  EXPECT_EQ(used(80), Kinds{});
  EXPECT_EQ(used(81), Kinds{"space_low warning"});
  EXPECT_EQ(used(85), Kinds{});
  EXPECT_EQ(used(91), Kinds{"space_low critical"});
  EXPECT_EQ(used(99), Kinds{});
  EXPECT_EQ(used(100), Kinds{});
}

TEST_F(SpaceWatchTest, RoomIsToldWhenItIsMoreThanAMoment) {
  EXPECT_EQ(used(95), Kinds{"space_low critical"});
  EXPECT_EQ(used(89), Kinds{});  // up and down at a step is no news
  EXPECT_EQ(used(91), Kinds{});
  EXPECT_EQ(used(88), Kinds{"space_regained info"});
  EXPECT_EQ(used(79), Kinds{});
  EXPECT_EQ(used(78), Kinds{"space_regained info"});
  EXPECT_EQ(used(81), Kinds{"space_low warning"});
  EXPECT_EQ(used(10), Kinds{"space_regained info"});
}

TEST_F(SpaceWatchTest, ADiskThatIsNotThereIsNoNews) {
  watch_.look({});
  EXPECT_TRUE(log_.after(0).empty());
}

}  // namespace
}  // namespace stoa::core
