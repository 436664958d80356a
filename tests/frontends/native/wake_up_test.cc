#include "frontends/native/client/wake_up.h"

#include <gtest/gtest.h>

#include <thread>

namespace stoa::native {
namespace {

constexpr auto kForEver = WakeUp::Clock::time_point::max();

TEST(WakeUp, WhatWasGivenBeforeEndsTheNextSleepAlone) {
  WakeUp woken;
  woken.give();
  woken.sleep(kForEver);
  const auto until = WakeUp::Clock::now() + std::chrono::milliseconds(20);
  woken.sleep(until);
  EXPECT_GE(WakeUp::Clock::now(), until);
}

TEST(WakeUp, EndsTheSleepOfAnotherThread) {
  WakeUp there, back;
  std::thread sleeper([&] {
    for (int i = 0; i < 1000; ++i) {
      there.sleep(i % 2 == 0 ? kForEver : WakeUp::Clock::now() + std::chrono::hours(1));
      back.give();
    }
  });
  for (int i = 0; i < 1000; ++i) {
    there.give();
    back.sleep(kForEver);
  }
  sleeper.join();
}

TEST(WakeUp, ATimeThatIsOverIsNotWaitedFor) {
  WakeUp woken;
  woken.sleep(WakeUp::Clock::now() - std::chrono::hours(1));
  woken.sleep(WakeUp::Clock::now());
}

}  // namespace
}  // namespace stoa::native
