#include "bench/load/outcome.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace stoa::bench {
namespace {

TEST(OutcomeTest, CountsErrorsByReasonAndNotAsOperations) {
  Outcome outcome;
  outcome.begin();
  outcome.succeeded(now_ns(), 4096);
  outcome.failed("NFS3ERR_IO");
  outcome.failed("NFS3ERR_IO");
  outcome.failed("short READ");
  outcome.end();
  const auto json = nlohmann::json::parse(outcome.to_json("load", 2, 16, 1));
  EXPECT_EQ(json["operations"], 1);
  EXPECT_EQ(json["bytes"], 4096);
  EXPECT_EQ(json["errors"], 3);
  EXPECT_EQ(json["errors_by_reason"]["NFS3ERR_IO"], 2);
}

TEST(OutcomeTest, ComparesTheLastTenthOfAPlanWithTheFirst) {
  Outcome outcome;
  outcome.plan(100);
  outcome.begin();
  for (int i = 0; i < 100; ++i) outcome.succeeded(now_ns(), 0);
  outcome.end();
  const auto json = nlohmann::json::parse(outcome.to_json("remove", 1, 1, 1));
  EXPECT_GT(json["first_tenth_ops_per_s"], 0.0);
  EXPECT_GT(json["last_tenth_ops_per_s"], 0.0);
}

TEST(OutcomeTest, TheCpuOfAProcessThatIsGoneCountsNothing) {
  EXPECT_EQ(cpu_seconds_of({0}), 0.0);
}

}  // namespace
}  // namespace stoa::bench
