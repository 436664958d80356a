// Each phase of a connection has its deadline, and the server's own turn has none.
#include "frontends/admin/phase.h"

#include <gtest/gtest.h>

namespace stoa::admin {
namespace {

using std::chrono::seconds;

constexpr ConnectionLimits kPhaseLimits{
    .connections_max = 4, .idle = seconds(30), .headers = seconds(10), .body = seconds(60), .answer = seconds(120)};

std::int64_t in_seconds(int count) {
  return std::chrono::nanoseconds(seconds(count)).count();
}

TEST(Phase, OfTheClientHasADeadlineAndMayGiveWay) {
  struct Case {
    Phase phase;
    int deadline;
    int patience;
  };
  for (const Case& one : {Case{Phase::kFresh, 30, 2}, Case{Phase::kIdle, 30, 0}, Case{Phase::kHeaders, 10, 2},
                          Case{Phase::kBody, 60, 2}, Case{Phase::kAnswer, 120, 10}}) {
    http::Connection connection;
    connection.clock = [] { return std::int64_t{0}; };
    enter(connection, Phase::kAtWork, kPhaseLimits);
    enter(connection, one.phase, kPhaseLimits);
    EXPECT_EQ(connection.deadline_ns, in_seconds(one.deadline));
    EXPECT_EQ(connection.idle_since_ns, in_seconds(one.patience));
    EXPECT_EQ(connection.turn, http::Connection::Turn::kClient);
  }
}

TEST(Phase, OfTheServerHasNoneAndNeverGivesWay) {
  for (const Phase phase : {Phase::kAtWork, Phase::kStreaming}) {
    http::Connection connection;
    enter(connection, Phase::kBody, kPhaseLimits);
    enter(connection, Phase::kAtWork, kPhaseLimits);
    enter(connection, phase, kPhaseLimits);
    EXPECT_EQ(connection.deadline_ns, http::Connection::kNever);
    EXPECT_EQ(connection.turn, http::Connection::Turn::kServer);
  }
}

}  // namespace
}  // namespace stoa::admin
