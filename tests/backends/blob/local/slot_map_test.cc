#include "backends/blob/local/slot_map.h"

#include <gtest/gtest.h>

namespace stoa::blob_local {
namespace {

TEST(SlotMap, EveryFreeSlotIsGivenOnce) {
  SlotMap map;
  map.set_container(2, 5, 70, true);
  std::vector<bool> seen(70);
  for (int i = 0; i < 70; ++i) {
    const auto taken = map.take(2);
    ASSERT_TRUE(taken);
    EXPECT_TRUE(taken->ready);
    EXPECT_FALSE(seen[taken->slot.slot]);
    seen[taken->slot.slot] = true;
  }
  EXPECT_FALSE(map.take(2));
  EXPECT_EQ(map.slots_taken(), 70u);
}

TEST(SlotMap, SlotsFoundAtStartAreNotReady) {
  SlotMap map;
  map.set_container(0, 1, 8, false);
  EXPECT_FALSE(map.take(0)->ready);
}

TEST(SlotMap, GrowthFillsTheNewestContainerFirst) {
  SlotMap map;
  EXPECT_EQ(map.next_growth(7).slots, 0u);
  EXPECT_EQ(map.next_growth(7).container, 1u);
  map.set_container(7, 1, slots_per_container(7), true);
  EXPECT_EQ(map.next_growth(7).container, 2u);
  map.set_container(7, 2, 4, true);
  EXPECT_EQ(map.next_growth(7).container, 2u);
  EXPECT_EQ(map.next_growth(7).slots, 4u);
}

TEST(SlotMap, GrownSlotsAreReadyAndOldOnesKeepTheirState) {
  SlotMap map;
  map.set_container(0, 1, 2, false);
  map.set_container(0, 1, 4, true);
  int ready = 0;
  for (int i = 0; i < 4; ++i) ready += map.take(0)->ready;
  EXPECT_EQ(ready, 2);
}

TEST(SlotMap, AdoptRefusesPlacesThatAreNotThere) {
  SlotMap map;
  map.set_container(0, 1, 2, false);
  EXPECT_TRUE(map.adopt({0, 1, 1}));
  EXPECT_TRUE(map.adopt({0, 1, 1}));  // twice: in use and named by two records
  EXPECT_FALSE(map.adopt({0, 1, 2}));
  EXPECT_FALSE(map.adopt({0, 2, 0}));
  EXPECT_EQ(map.slots_taken(), 1u);
}

TEST(SlotMap, TheLastContainerWithRoomStays) {
  SlotMap map;
  map.set_container(0, 1, 4, true);
  EXPECT_FALSE(map.drop_if_empty(0, 1));
  map.set_container(0, 2, 4, true);
  EXPECT_TRUE(map.drop_if_empty(0, 1));
  EXPECT_EQ(map.container_slots(0, 1), 0u);
}

}  // namespace
}  // namespace stoa::blob_local
