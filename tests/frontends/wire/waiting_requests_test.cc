// Requests that wait for recalls: resumed once, by the answer or when their time is over; limits, ends, races.
#include "frontends/wire/waiting_requests.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/frontends/wire/recall_table.h"

namespace stoa::wire {
namespace {

using Outcome = WaitingRequests::Outcome;
using std::chrono::seconds;

constexpr core::FileId kFile{7};

class WaitingRequestsTest : public testing::Test {
 protected:
  struct Resumed {
    int times = 0;
    bool over = false;
  };
  Outcome park(Resumed& resumed, const void* owner = nullptr, std::uint64_t bytes = 100) {
    WaitingRequests::Request request{
        .owner = owner, .bytes = bytes, .until = begin_ + seconds(10), .resume = [&resumed](bool over) {
          ++resumed.times;
          resumed.over = over;
        }};
    const Outcome outcome = waiting().park(kFile, request);
    EXPECT_EQ(request.resume == nullptr, outcome == Outcome::kWaits) << "it is taken when it waits, and only then";
    return outcome;
  }
  WaitingRequests& waiting() {
    if (waiting_ == nullptr) waiting_ = std::make_unique<WaitingRequests>(&table_, limits_, refused_);
    return *waiting_;
  }

  const WaitingRequests::Clock::time_point begin_ = WaitingRequests::Clock::now();
  MetricRegistry metrics_;
  Counter& refused_ = metrics_.counter("refused", "");
  ServerLimits limits_;
  test::RecallTable table_;
  std::unique_ptr<WaitingRequests> waiting_;
};

TEST_F(WaitingRequestsTest, AreResumedByTheAnswerAndOnce) {
  Resumed one, two;
  EXPECT_EQ(park(one), Outcome::kWaits);
  EXPECT_EQ(park(two), Outcome::kWaits);
  EXPECT_EQ(waiting().count(), 2u);
  EXPECT_EQ(waiting().bytes(), 200u);
  EXPECT_EQ(one.times, 0);
  table_.answer();
  EXPECT_EQ(one.times, 1);
  EXPECT_FALSE(one.over);
  EXPECT_EQ(two.times, 1);
  EXPECT_EQ(waiting().count(), 0u);
  EXPECT_EQ(waiting().bytes(), 0u);
  waiting().expire(begin_ + seconds(100));
  waiting().finish_all();
  EXPECT_EQ(one.times, 1);
  EXPECT_EQ(table_.stopped, 0);
}

TEST_F(WaitingRequestsTest, ARecallThatWasAnsweredBeforeLetsItRunAtOnce) {
  Resumed resumed;
  table_.under_way = false;
  EXPECT_EQ(park(resumed), Outcome::kClear);
  // While it registers.
  table_.under_way = true;
  table_.answered_meanwhile = true;
  EXPECT_EQ(park(resumed), Outcome::kClear);
  EXPECT_EQ(resumed.times, 0);
  EXPECT_EQ(waiting().count(), 0u);
  EXPECT_EQ(waiting().bytes(), 0u);
  EXPECT_EQ(metrics_.render().find("refused 1"), std::string::npos);
}

TEST_F(WaitingRequestsTest, AreOverWhenTheirTimeOrTheRecallIs) {
  Resumed patient, lapsed;
  EXPECT_EQ(waiting().next_expiry(), WaitingRequests::Clock::time_point::max());
  EXPECT_EQ(park(patient), Outcome::kWaits);
  EXPECT_EQ(waiting().next_expiry(), begin_ + seconds(10));
  table_.lapses = begin_ + seconds(3);
  EXPECT_EQ(park(lapsed), Outcome::kWaits);
  EXPECT_EQ(waiting().next_expiry(), begin_ + seconds(3));
  waiting().expire(begin_ + seconds(3) - std::chrono::nanoseconds(1));
  EXPECT_EQ(lapsed.times, 0);
  waiting().expire(begin_ + seconds(3));
  EXPECT_EQ(lapsed.times, 1);
  EXPECT_TRUE(lapsed.over);
  EXPECT_EQ(patient.times, 0);
  waiting().expire(begin_ + seconds(10));
  EXPECT_TRUE(patient.over);
  EXPECT_EQ(table_.stopped, 2);
  table_.answer();
  EXPECT_EQ(patient.times, 1);
}

TEST_F(WaitingRequestsTest, BeyondTheLimitsNoneIsTaken) {
  limits_.waiting_max = 3;
  limits_.waiting_per_connection_max = 2;
  limits_.waiting_bytes_max = 1000;
  limits_.waiting_bytes_per_connection_max = 700;
  const int a = 0, b = 0, c = 0;
  Resumed r;
  EXPECT_EQ(park(r, &a, 701), Outcome::kFull);
  EXPECT_EQ(park(r, &a, 700), Outcome::kWaits);
  EXPECT_EQ(park(r, &a, 1), Outcome::kFull);
  EXPECT_EQ(park(r, &b, 301), Outcome::kFull);
  EXPECT_EQ(park(r, &b, 299), Outcome::kWaits);
  EXPECT_EQ(park(r, &b, 1), Outcome::kWaits);
  EXPECT_EQ(park(r, &b, 0), Outcome::kFull);
  EXPECT_EQ(park(r, &c, 0), Outcome::kFull);
  EXPECT_NE(metrics_.render().find("refused 5"), std::string::npos);
  waiting().cancel(&a);
  EXPECT_EQ(park(r, &c, 700), Outcome::kWaits);
  EXPECT_EQ(r.times, 0);
  table_.full = true;
  waiting().cancel(&b);
  EXPECT_EQ(park(r, &b, 1), Outcome::kFull);
  EXPECT_EQ(waiting().count(), 1u);
  EXPECT_EQ(waiting().bytes(), 700u);
}

TEST_F(WaitingRequestsTest, EndWithTheirConnection) {
  const int a = 0, b = 0;
  Resumed cancelled, finished, other;
  EXPECT_EQ(park(cancelled, &a), Outcome::kWaits);
  waiting().cancel(&a);
  EXPECT_EQ(park(finished, &a), Outcome::kWaits);
  EXPECT_EQ(park(other, &b), Outcome::kWaits);
  waiting().finish(&a);
  EXPECT_TRUE(finished.over);
  EXPECT_EQ(cancelled.times, 0);
  EXPECT_EQ(other.times, 0);
  EXPECT_EQ(table_.waiting(), 1u);
  waiting().finish_all();
  EXPECT_TRUE(other.over);
  EXPECT_EQ(park(other, &b), Outcome::kFull);
  EXPECT_EQ(table_.waiting(), 0u);
}

TEST_F(WaitingRequestsTest, TheTableMayCallBackWhenAllIsOver) {
  Resumed resumed;
  EXPECT_EQ(park(resumed), Outcome::kWaits);
  const auto late = table_.taken();
  waiting_.reset();
  late();
  EXPECT_EQ(resumed.times, 0);
  EXPECT_EQ(table_.stopped, 1);
}

TEST_F(WaitingRequestsTest, EachIsResumedOnceHoweverManyEndIt) {
  constexpr int kRequests = 2000;
  limits_.waiting_per_connection_max = limits_.waiting_max = kRequests;
  waiting();
  std::vector<std::atomic<int>> resumed(kRequests);
  std::atomic<bool> done = false;
  std::thread answers([&] {
    while (!done) table_.answer();
  });
  std::thread expires([&] {
    while (!done) waiting().expire(begin_ + seconds(11));
  });
  int at_once = 0;
  for (int i = 0; i < kRequests; ++i) {
    WaitingRequests::Request request{
        .bytes = 1, .until = begin_ + seconds(10), .resume = [&resumed, i](bool) { ++resumed[i]; }};
    const Outcome outcome = waiting().park(kFile, request);
    ASSERT_NE(outcome, Outcome::kFull);
    if (outcome == Outcome::kClear) {
      ++at_once;
      ++resumed[i];
    }
  }
  while (waiting().count() > 0) std::this_thread::yield();
  done = true;
  answers.join();
  expires.join();
  for (const auto& times : resumed) ASSERT_EQ(times, 1);
  EXPECT_LE(at_once, kRequests);
}

}  // namespace
}  // namespace stoa::wire
