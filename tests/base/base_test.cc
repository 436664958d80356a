#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <thread>

#include "base/assert.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/reason.h"
#include "base/siphash.h"

namespace stoa {
namespace {

TEST(AssertTest, TellsTheConditionAndTheInvariant) {
  const int hands = 1;
  EXPECT_DEATH(STOA_ASSERT(hands == 2, "there are two"), "hands == 2, that is: there are two");
  EXPECT_DEATH(STOA_ASSERT(hands == 2), "hands == 2 ");
  STOA_ASSERT(hands == 1, "there is one");
}

TEST(Crc32cTest, MatchesThePublishedVectors) {
  // RFC 3720 appendix B.4.
  const std::vector<std::byte> zeros(32);
  EXPECT_EQ(crc32c(zeros), 0x8A9136AAu);
  const std::vector<std::byte> ones(32, std::byte{0xff});
  EXPECT_EQ(crc32c(ones), 0x62A8AB43u);
  std::vector<std::byte> counting(32);
  for (std::size_t i = 0; i < 32; ++i) counting[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(counting), 0x46DD794Eu);
}

TEST(Crc32c, JoinsRunsAndAddsZerosWithoutTheBytes) {
  std::vector<std::byte> bytes(70'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + (i >> 8));
  for (const std::size_t cut : {0u, 1u, 7u, 4096u, 65535u, 70'000u}) {
    const auto first = std::span(bytes).first(cut), second = std::span(bytes).subspan(cut);
    EXPECT_EQ(crc32c_join(crc32c(first), crc32c(second), second.size()), crc32c(bytes)) << cut;
    std::vector<std::byte> padded(first.begin(), first.end());
    padded.resize(bytes.size());
    EXPECT_EQ(crc32c_zeros(crc32c(first), padded.size() - cut), crc32c(padded)) << cut;
  }
}

TEST(Crc32cTest, PiecesGiveTheSumOfTheWhole) {
  std::vector<std::byte> data(10'000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 + i / 7);
  const std::uint32_t whole = crc32c(data);
  for (const std::size_t cut : {1u, 7u, 1024u, 3072u, 3073u, 9999u}) {
    EXPECT_EQ(crc32c(std::span(data).subspan(cut), crc32c(std::span(data).first(cut))), whole) << cut;
  }
}

TEST(SipHashTest, MatchesThePublishedVector) {
  // Appendix A of the SipHash paper: key 00..0f, message 00..0e.
  std::vector<std::byte> message(15);
  for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(i);
  EXPECT_EQ(siphash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, message), 0xa129ca6149be45e5u);
}

TEST(TimestampTest, TimesBeforeTheEpochRoundDown) {
  EXPECT_EQ(Timestamp{-1}.seconds(), -1);
  EXPECT_EQ(Timestamp{-1}.nanoseconds(), 999'999'999u);
  EXPECT_EQ(Timestamp::from(-2, 5).seconds(), -2);
  EXPECT_EQ(Timestamp::from(-2, 5).nanoseconds(), 5u);
  EXPECT_EQ(Timestamp{-1'000'000'000}.seconds(), -1);
  EXPECT_EQ(Timestamp{-1'000'000'000}.nanoseconds(), 0u);
}

TEST(ErrorTest, EveryCodeHasAWord) {
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code)
    EXPECT_NE(to_string(static_cast<Errc>(code)), "unknown");
}

TEST(MetricsTest, CountsOfManyThreadsAddUpAndRender) {
  MetricRegistry metrics;
  Counter& counter = metrics.counter("stoa_things_total", "Things", {{"kind", "a\"b"}});
  EXPECT_EQ(&counter, &metrics.counter("stoa_things_total", "Things", {{"kind", "a\"b"}}));
  Histogram& latency = metrics.histogram("stoa_wait_seconds", "Waiting");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        counter.add();
        latency.observe_ns(3000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = metrics.render();
  EXPECT_NE(text.find("stoa_things_total{kind=\"a\\\"b\"} 4000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stoa_wait_seconds_bucket{le=\"2e-06\"} 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stoa_wait_seconds_bucket{le=\"4e-06\"} 4000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stoa_wait_seconds_bucket{le=\"+Inf\"} 4000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stoa_wait_seconds_sum 0.012\n"), std::string::npos) << text;
}

TEST(MetricsTest, OfAPartCarryItsLabelsAndItsCallbacksGoWithIt) {
  MetricRegistry whole;
  int here = 1, there = 2;
  MetricRegistry first(whole, {{"volume", "a"}});
  std::optional<MetricRegistry> second(std::in_place, whole, Labels{{"volume", "b"}});
  first.gauge_callback("stoa_held", "Held", {}, [&] { return here; });
  second->gauge_callback("stoa_held", "Held", {{"kind", "x"}}, [&] { return there; });
  first.counter("stoa_done_total", "Done").add(3);
  second->counter("stoa_done_total", "Done").add(4);
  EXPECT_NE(whole.render().find("stoa_held{volume=\"a\"} 1\nstoa_held{volume=\"b\",kind=\"x\"} 2\n"), std::string::npos)
      << whole.render();
  EXPECT_EQ(whole.counter_sum("stoa_done_total"), 7u);
  EXPECT_EQ(first.counter_sum("stoa_done_total"), 3u);
  second.reset();
  EXPECT_EQ(whole.render().find("volume=\"b\",kind"), std::string::npos);
  EXPECT_EQ(whole.counter_sum("stoa_done_total"), 7u);
  first.drop_callbacks();
  EXPECT_EQ(whole.render().find("stoa_held"), std::string::npos);
}

TEST(ErrorTest, ACauseCarriesItsCodeAndArguments) {
  const Error error = fail(Cause::kNameTaken, "user", std::string("ann")).error();
  EXPECT_EQ(error.code, Errc::kExists);
  EXPECT_EQ(error.cause, Cause::kNameTaken);
  EXPECT_EQ(error.arguments, (std::vector<std::string>{"user", "ann"}));
  EXPECT_EQ(describe(error), "exists: name_taken [user, ann]");
  EXPECT_TRUE(fail(Cause::kTokenUnknown).error().arguments.empty());
  EXPECT_EQ(fail(Cause::kTooDeep, 2048).error().arguments.at(0), "2048");
}

TEST(ErrorTest, AReasonForReportsHasNoDetail) {
  EXPECT_EQ(reason(fail(Errc::kIo, "write of a secret path").error()), "io");
  EXPECT_EQ(reason(fail(Cause::kMetadataFull).error()), "metadata_full");
  EXPECT_EQ(reason(fail_errno(EIO, "write of a secret path").error()), "Input/output error");
}

}  // namespace
}  // namespace stoa
