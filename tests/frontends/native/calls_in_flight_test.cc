// Callers that read a channel for each other, without a server: what they send comes back as soon as one of them reads.
#include "frontends/native/client/calls_in_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

namespace stoa::native {
namespace {

constexpr std::size_t kChannels = 2;
constexpr std::uint32_t kSlots = 12;

class Echo final : public ChannelReading {
 public:
  void attach(CallsInFlight& calls, std::size_t channels) {
    calls_ = &calls;
    for (std::size_t i = 0; i < channels; ++i) calls.channel_up(i);
  }
  // The reply may be read from now on.
  void send(const std::shared_ptr<CallsInFlight::Call>& call) {
    const std::lock_guard lock(mutex_);
    come_[calls_->channel_of(call->slot)].push_back(call);
    changed_.notify_all();
  }
  void read(std::size_t channel, Deadline::Clock::time_point until) override {
    std::shared_ptr<CallsInFlight::Call> call;
    {
      std::unique_lock lock(mutex_);
      EXPECT_FALSE(std::exchange(read_[channel], true)) << "two read a channel";
      auto& come = come_[channel];
      const auto there = [&] { return !come.empty(); };
      if (!(until == Deadline::Clock::time_point::max() ? (changed_.wait(lock, there), true)
                                                        : changed_.wait_until(lock, until, there))) {
        read_[channel] = false;
        return;
      }
      const std::size_t which = random_() % come.size();
      call = come[which];
      come.erase(come.begin() + static_cast<std::ptrdiff_t>(which));
      read_[channel] = false;
    }
    MessageView answer;
    answer.header.slot = call->slot;
    answer.header.sequence = call->sequence;
    (void)calls_->answered(call, std::make_shared<const Content>(1), answer);
  }

 private:
  CallsInFlight* calls_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<CallsInFlight::Call>> come_[kChannels];
  bool read_[kChannels] = {};
  std::minstd_rand random_{7};
};

std::shared_ptr<CallsInFlight::Call> begin(CallsInFlight& calls) {
  auto call = calls.begin({}, [](U64, U32, U32) { return Frame{}; });
  EXPECT_TRUE(call);
  return *call;
}

// A wake-up that is lost leaves a caller asleep, and the test without an end.
TEST(CallsInFlight, EachCallerGetsItsOwnReplyWhoeverReadsIt) {
  Echo echo;
  CallsInFlight calls(kSlots, kChannels, echo);
  echo.attach(calls, kChannels);
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 16; ++thread) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const auto call = begin(calls);
        echo.send(call);
        ASSERT_TRUE(calls.wait(call, {}));
        EXPECT_EQ(call->answer.header.slot, call->slot);
        EXPECT_EQ(call->answer.header.sequence, call->sequence);
        calls.end(call);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// Those that give up may have been the ones who were to read.
TEST(CallsInFlight, CallersThatGiveUpLeaveTheReadingToOthers) {
  Echo echo;
  CallsInFlight calls(kSlots, 1, echo);
  echo.attach(calls, 1);
  std::atomic<int> answered{0};
  std::atomic<bool> over{false};
  // The channel's own thread, for the replies that nobody waits for when all others are in a hurry.
  std::thread own([&] {
    while (!over.load()) {
      const auto soon = Deadline::Clock::now() + std::chrono::milliseconds(5);
      if (calls.next_turn(0, soon) != CallsInFlight::Turn::kLook || !calls.begin_reading(0)) continue;
      echo.read(0, Deadline::Clock::now());
      calls.end_reading(0);
    }
  });
  std::vector<std::thread> callers;
  for (int thread = 0; thread < 8; ++thread) {
    callers.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i) {
        const auto call = begin(calls);
        const bool hurries = thread % 2 == 0;
        if (hurries) {
          const auto soon = Deadline::Clock::now() + std::chrono::microseconds(50 * (i % 4));
          const Status waited = calls.wait(call, {.deadline = Deadline(soon)});
          ASSERT_FALSE(waited) << "nothing was sent";
          EXPECT_EQ(waited.error().code, Errc::kTimeout);
          echo.send(call);  // its slot is free when it is answered
        } else {
          echo.send(call);
          ASSERT_TRUE(calls.wait(call, {}));
          calls.end(call);
          ++answered;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  over = true;
  own.join();
  EXPECT_EQ(answered.load(), 4 * 200);
}

TEST(CallsInFlight, TheEndWakesAllWhoWait) {
  Echo echo;
  CallsInFlight calls(kSlots, kChannels, echo);  // no channel is up: nobody reads
  std::vector<std::thread> callers;
  std::atomic<int> begun{0};
  for (std::uint32_t thread = 0; thread < kSlots + 4; ++thread) {  // some wait for a slot
    callers.emplace_back([&] {
      ++begun;
      const auto call = calls.begin({}, [](U64, U32, U32) { return Frame{}; });
      const Status waited = call ? calls.wait(*call, {}) : Status(fail(call.error()));
      ASSERT_FALSE(waited);
      EXPECT_EQ(waited.error().code, Errc::kShutdown);
    });
  }
  while (begun.load() < static_cast<int>(kSlots + 4)) std::this_thread::yield();
  calls.stop();
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace stoa::native
