#include "core/audit/denial_limit.h"

#include <gtest/gtest.h>

namespace stoa::core {
namespace {

using std::chrono::milliseconds;
using Verdict = DenialLimit::Verdict;

TEST(DenialLimitTest, EachClientHasItsShareOfASecond) {
  DenialLimit limit;
  DenialLimit::Time now{std::chrono::hours(1)};
  for (std::uint32_t i = 0; i < DenialLimit::kPerSecond; ++i)
    EXPECT_EQ(limit.admit("a", Protocol::kNfs, now), Verdict::kRecord);
  EXPECT_FALSE(limit.due());
  EXPECT_EQ(limit.admit("a", Protocol::kNfs, now), Verdict::kFirstCount);
  EXPECT_EQ(limit.admit("a", Protocol::kNfs, now + milliseconds(900)), Verdict::kCount) << "nobody is called again";
  EXPECT_EQ(limit.admit("b", Protocol::kS3, now), Verdict::kRecord);
  EXPECT_EQ(limit.due(), now + milliseconds(1000));
  EXPECT_TRUE(limit.take(now + milliseconds(999)).empty());
  EXPECT_EQ(limit.admit("a", Protocol::kNfs, now + milliseconds(1500)), Verdict::kCount)
      << "counted on until it is told";
  const auto omitted = limit.take(now + milliseconds(1500));
  ASSERT_EQ(omitted.size(), 1u);
  EXPECT_EQ(omitted[0].client, "a");
  EXPECT_EQ(omitted[0].protocol, Protocol::kNfs);
  EXPECT_EQ(omitted[0].count, 3u);
  EXPECT_FALSE(limit.due());
  EXPECT_EQ(limit.admit("a", Protocol::kNfs, now + milliseconds(1500)), Verdict::kRecord);
}

TEST(DenialLimitTest, ManyClientsTakeNoMoreMemory) {
  DenialLimit limit;
  const DenialLimit::Time now{std::chrono::hours(1)};
  std::uint64_t admitted = 0;
  constexpr std::uint64_t kClients = 5000;
  for (std::uint64_t i = 0; i < kClients; ++i) {
    admitted += limit.admit("client" + std::to_string(i), Protocol::kNfs, now) == Verdict::kRecord ? 1 : 0;
  }
  EXPECT_LE(admitted, DenialLimit::kClientsMax + DenialLimit::kPerSecond);
  std::uint64_t omitted = 0;
  for (const auto& one : limit.take(now + milliseconds(1000))) omitted += one.count;
  EXPECT_EQ(admitted + omitted, kClients) << "and none is forgotten";
}

}  // namespace
}  // namespace stoa::core
