#include "frontends/native/data/workers.h"

#include <gtest/gtest.h>

#include <sched.h>

#include <future>

namespace stoa::native::data {
namespace {

cpu_set_t processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  return mask;
}

TEST(Workers, RunOnTheProcessorsOfWhoMadeThem) {
  const cpu_set_t mine = processors();
  Workers workers(2, 16);
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
      if (CPU_ISSET(i, &mine)) CPU_SET(i, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    std::promise<cpu_set_t> seen;
    ASSERT_TRUE(workers.post([&] { seen.set_value(processors()); }));
    const cpu_set_t theirs = seen.get_future().get();
    EXPECT_TRUE(CPU_EQUAL(&theirs, &mine));
  }).join();
}

TEST(Workers, DoAllThatWasPostedBeforeTheEndAndNothingAfter) {
  Workers workers(2, 1000);
  std::atomic<int> done{0};
  int posted = 0;
  for (int i = 0; i < 500; ++i) posted += workers.post([&] { ++done; }) ? 1 : 0;
  workers.stop();
  EXPECT_EQ(posted, 500);
  EXPECT_EQ(done, 500);
  EXPECT_FALSE(workers.post([&] { ++done; }));
}

}  // namespace
}  // namespace stoa::native::data
