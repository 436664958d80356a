#include "core/volume/space_watch.h"

#include <gtest/gtest.h>

namespace stoa::core {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

class SpaceWatchTest : public testing::Test {
 protected:
  using Kinds = std::vector<std::string>;
  // The kinds of the new events, this many seconds after the last look.
  Kinds used(std::uint64_t percent, std::int64_t seconds = 0) {
    return look({.total = 1000, .free = 1000 - 10 * percent}, true, seconds);
  }
  Kinds look(const BlobStore::Space& space, bool metadata_has_room, std::int64_t seconds) {
    now_.ns += seconds * kSecondNs;
    const std::uint64_t before = log_.newest();
    watch_.look(space, metadata_has_room, now_);
    Kinds kinds;
    for (const Event& event : log_.after(before))
      kinds.push_back(std::string(to_string(event.kind)) + " " + std::string(to_string(event.severity)));
    return kinds;
  }

  MetricRegistry metrics_;
  EventLog log_{metrics_};
  SpaceWatch watch_{log_};
  Timestamp now_{1};
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
  EXPECT_EQ(used(88), Kinds{});
  EXPECT_EQ(used(88, 59), Kinds{});
  EXPECT_EQ(used(88, 1), Kinds{"space_regained info"});
  EXPECT_EQ(used(79, 100), Kinds{});
  EXPECT_EQ(used(78, 100), Kinds{});
  EXPECT_EQ(used(78, 60), Kinds{"space_regained info"});
  EXPECT_EQ(used(81), Kinds{"space_low warning"});
}

// As around a full disk: removals and compactions give back a fifth of a small one, and the next writes take it.
TEST_F(SpaceWatchTest, WhatComesAndGoesIsToldOnce) {
  EXPECT_EQ(used(100), Kinds{"space_low critical"});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(used(70, 30), Kinds{}) << i;
    EXPECT_EQ(used(100, 20), Kinds{}) << i;
  }
}

TEST_F(SpaceWatchTest, AFullDiskOfTheMetadataIsToldOnce) {
  const BlobStore::Space none;
  EXPECT_EQ(look(none, true, 0), Kinds{});
  EXPECT_EQ(look(none, false, 1), Kinds{"growth_refused critical"});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(look(none, true, 30), Kinds{}) << i;
    EXPECT_EQ(look(none, false, 20), Kinds{}) << i;
  }
  EXPECT_EQ(look(none, true, 1), Kinds{});
  EXPECT_EQ(look(none, true, 60), Kinds{"growth_accepted info"});
}

TEST_F(SpaceWatchTest, ADiskThatIsNotThereIsNoNews) {
  EXPECT_EQ(look({}, true, 0), Kinds{});
}

}  // namespace
}  // namespace stoa::core
