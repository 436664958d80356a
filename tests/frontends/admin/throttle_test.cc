#include "frontends/admin/throttle.h"

#include <thread>

#include "frontends/admin/authentication.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Throttle::Wait kGo{0};
constexpr Throttle::Time kStart{std::chrono::hours(1000)};

TEST(ThrottleTest, ABurstThenTheRate) {
  Throttle throttle({.requests_per_second = 10, .requests_burst = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(throttle.admit("a", kStart), kGo);
  EXPECT_EQ(std::chrono::round<std::chrono::milliseconds>(throttle.admit("a", kStart)), 100ms);
  EXPECT_EQ(throttle.admit("b", kStart), kGo);
  EXPECT_EQ(std::chrono::round<std::chrono::milliseconds>(throttle.admit("a", kStart + 40ms)), 60ms);
  EXPECT_EQ(throttle.admit("a", kStart + 101ms), kGo);
  EXPECT_NE(throttle.admit("a", kStart + 101ms), kGo);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(throttle.admit("a", kStart + 1h), kGo);
  EXPECT_NE(throttle.admit("a", kStart + 1h), kGo);
  EXPECT_NE(throttle.admit("a", kStart), kGo);  // a clock that went back gives nothing
}

TEST(ThrottleTest, FailuresAreDelayedForLongerAndLonger) {
  Throttle throttle(
      {.failures_per_second = 1, .failures_burst = 2, .delay_first = 2s, .delay_max = 5s, .failures_forgotten = 60s});
  EXPECT_EQ(throttle.fail("a", kStart), kGo);
  EXPECT_EQ(throttle.fail("a", kStart), kGo);
  EXPECT_EQ(throttle.fail("a", kStart), 2s);
  EXPECT_EQ(throttle.fail("a", kStart + 1s), 1s);  // asking again makes it no longer
  EXPECT_EQ(throttle.fail("b", kStart), kGo);
  auto now = kStart + 2s;
  const auto next_delay = [&] {
    Throttle::Wait wait{};
    while ((wait = throttle.fail("a", now)) == kGo) {
    }
    now += wait;
    return wait;
  };
  EXPECT_EQ(next_delay(), 4s);
  EXPECT_EQ(next_delay(), 5s);
  EXPECT_EQ(next_delay(), 5s);
  now += 61s;
  EXPECT_EQ(next_delay(), 2s);
}

TEST(ThrottleTest, MemoryIsBoundedAndTheIdleAreForgotten) {
  Throttle throttle({.requests_per_second = 0.001, .requests_burst = 1, .known_max = 10});
  EXPECT_EQ(throttle.admit("busy", kStart), kGo);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(throttle.admit("other " + std::to_string(i), kStart), kGo);
    EXPECT_NE(throttle.admit("busy", kStart), kGo);
    EXPECT_LE(throttle.known(), 10u);
  }
  EXPECT_EQ(throttle.admit("other 0", kStart), kGo);
}

TEST(ThrottleTest, ManyThreadsGetTheBurstOnce) {
  Throttle throttle({.requests_per_second = 0.001, .requests_burst = 100, .known_max = 4});
  std::atomic<int> let_in{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (throttle.admit("a", kStart) == kGo) ++let_in;
        throttle.fail("b" + std::to_string(t % 2), kStart);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(let_in, 100);
}

TEST(ThrottleTest, AnIpv6ClientIsItsNetwork) {
  EXPECT_EQ(address_key("192.0.2.1"), "address:192.0.2.1");
  EXPECT_EQ(address_key("2001:db8:1:2:3::4"), "address:2001:db8:1:2::/64");
  EXPECT_EQ(address_key("2001:db8:1:2:ffff::"), address_key("2001:db8:1:2::1"));
  EXPECT_EQ(address_key("::ffff:192.0.2.1"), "address:::ffff:192.0.2.1");
  EXPECT_EQ(address_key("unix"), "address:unix");
}

class TightTest : public AdminTest {
 protected:
  // The next token of a bucket comes in an hour, so the clock does not affect the result.
  TightTest()
      : AdminTest({.requests_per_second = 1 / 3600.0,
                   .requests_burst = 2,
                   .failures_per_second = 1 / 3600.0,
                   .failures_burst = 2,
                   .delay_first = 3600s,
                   .delay_max = 3600s}) {}
  Answer from(const std::string& client, const std::string& secret, const std::string& path = "/v1/version") {
    Request request{.method = Method::kGet, .path = path};
    if (!secret.empty()) request.authorization = "Bearer " + secret;
    request.client = client;
    request.local = client == "unix" || client == "127.0.0.1";
    reply_ = dispatch(*service_, request);
    return {.status = reply_.status, .json = Json::parse(reply_.body, nullptr, false), .text = reply_.body};
  }
  Reply reply_;
};

TEST_F(TightTest, ATokenIsHeldToItsRateWhereverItComesFrom) {
  EXPECT_EQ(from("192.0.2.1", "secret").status, 200u);
  EXPECT_EQ(from("192.0.2.2", "secret").status, 200u);
  const Answer refused = from("192.0.2.3", "secret");
  EXPECT_EQ(refused.status, 429u);
  EXPECT_EQ(refused.code(), "too_many_requests");
  EXPECT_FALSE(reply_.retry_after.empty());
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(from("127.0.0.1", "secret").status, 200u);
    EXPECT_EQ(from("unix", "secret").status, 200u);
  }
  EXPECT_THAT(metrics_.render(), HasSubstr("stoa_admin_throttled_total{why=\"requests\"} 1"));
}

TEST_F(TightTest, WhatNeedsNoTokenIsHeldToTheRateOfTheAddress) {
  EXPECT_EQ(from("192.0.2.1", "", "/healthz").status, 200u);
  EXPECT_EQ(from("192.0.2.1", "", "/nothing").status, 404u);
  EXPECT_EQ(from("192.0.2.1", "", "/healthz").status, 429u);
  EXPECT_EQ(from("192.0.2.1", "", "/nothing").status, 429u);
  EXPECT_EQ(from("192.0.2.2", "", "/healthz").status, 200u);
  EXPECT_EQ(from("192.0.2.1", "secret").status, 200u);
}

TEST_F(TightTest, WrongTokensAreDelayedAndRightOnesAreNot) {
  std::size_t recorded = 0;
  service_->record_action = [&](const Request&, const AdminAction&) { ++recorded; };
  for (const char* client : {"192.0.2.1", "127.0.0.1"}) {
    EXPECT_EQ(from(client, "wrong").status, 401u);
    EXPECT_EQ(from(client, "wrong").status, 401u);
    const Answer delayed = from(client, "wrong");
    EXPECT_EQ(delayed.status, 429u);
    EXPECT_EQ(reply_.retry_after, "3600");
    EXPECT_EQ(from(client, "secret").status, 200u);
  }
  EXPECT_EQ(recorded, 4u);  // a flood does not fill the log
  for (int i = 0; i < 10; ++i) EXPECT_EQ(from("unix", "wrong").status, 401u);
  EXPECT_EQ(from("unix", "secret").status, 200u);
  EXPECT_THAT(metrics_.render(), HasSubstr("stoa_admin_refused_tokens_total 16"));
}

}  // namespace
}  // namespace stoa::admin
