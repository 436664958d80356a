// Wake-ups by the journal's tail.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "core/commit/journal_tail.h"

namespace stoa::core {
namespace {

constexpr auto kForever = std::chrono::steady_clock::time_point::max();

// The audit log and the watchers wait like that while nothing is audited or watched. Each commit that woke them cost
// ten calls of the kernel and two changes of thread.
TEST(JournalTailTest, WhoWaitsForNoRecordSleepsThroughAllOfThem) {
  JournalTail tail(0);
  std::atomic<long> slept{-1};
  std::jthread waiter([&](const std::stop_token& stop) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_THREAD, &before);
    slept.store(0);
    tail.wait(JournalTail::kNothing, 0, kForever, stop);
    ::getrusage(RUSAGE_THREAD, &after);
    slept.store(after.ru_nvcsw - before.ru_nvcsw);
  });
  while (slept.load() < 0) std::this_thread::yield();
  for (std::uint64_t i = 1; i <= 20'000; ++i) {
    tail.set_written(i);
    tail.announce();
    tail.take_announced();
    if (i % 100 == 0) std::this_thread::yield();
  }
  tail.call();
  waiter.join();
  // Once for the wait; the rest is the mutex, which a call may hold.
  EXPECT_LE(slept.load(), 10);
}

TEST(JournalTailTest, RecordsWakeReadersAndACallWakesEverybody) {
  for (const std::uint64_t after : {std::uint64_t{7}, JournalTail::kNothing}) {
    JournalTail called(7);
    std::jthread waiter([&](const std::stop_token& stop) { called.wait(after, 0, kForever, stop); });
    called.call();
    waiter.join();
  }
  JournalTail written(7);
  std::jthread reader([&](const std::stop_token& stop) { written.wait(7, 0, kForever, stop); });
  written.set_written(8);
  reader.join();
  JournalTail announced(7);
  std::jthread writer([&](const std::stop_token& stop) { announced.wait(7, 0, kForever, stop); });
  announced.announce();
  writer.join();
  JournalTail stopped(7);
  std::jthread last([&](const std::stop_token& stop) { stopped.wait(JournalTail::kNothing, 0, kForever, stop); });
  last.request_stop();
  last.join();
}

}  // namespace
}  // namespace stoa::core
