// Deadlines of connections, and who gives way: with a clock of its own.
#include "frontends/admin/connections.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace stoa::admin {
namespace {

using std::chrono::seconds;
using Phase = Connections::Phase;

class ConnectionsTest : public testing::Test {
 protected:
  struct Pair {
    std::array<int, 2> fds{-1, -1};
    Connections::Connection* connection = nullptr;
  };
  ~ConnectionsTest() override {
    for (Pair& pair : pairs_) {
      connections_.remove(pair.connection);
      for (const int fd : pair.fds) close(fd);
    }
  }
  std::size_t come(const std::string& address, Phase phase = Phase::kFresh) {
    Pair pair;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.fds.data()), 0);
    pair.connection = connections_.add(pair.fds[0], address, now_);
    connections_.enter(pair.connection, phase, now_);
    pairs_.push_back(pair);
    return pairs_.size() - 1;
  }
  bool is_cut(std::size_t which) {
    pollfd one{.fd = pairs_[which].fds[1], .events = POLLIN, .revents = 0};
    return poll(&one, 1, 0) == 1 && (one.revents & POLLHUP) != 0;
  }
  void pass(seconds time) {
    now_ += time;
    connections_.expire(now_);
  }

  MetricRegistry metrics_;
  Connections connections_{
      {.connections_max = 4, .idle = seconds(30), .headers = seconds(10), .body = seconds(60), .answer = seconds(120)},
      metrics_};
  Connections::Time now_{};
  std::vector<Pair> pairs_;
};

TEST_F(ConnectionsTest, EachPhaseHasItsDeadlineAndTheServersOwnTurnHasNone) {
  constexpr std::pair<Phase, int> kDeadlines[] = {
      {Phase::kFresh, 30}, {Phase::kIdle, 30}, {Phase::kHeaders, 10}, {Phase::kBody, 60}, {Phase::kAnswer, 120}};
  for (const auto& [phase, deadline] : kDeadlines) {
    const std::size_t one = come("a", phase);
    pass(seconds(deadline - 1));
    EXPECT_FALSE(is_cut(one)) << deadline;
    pass(seconds(1));
    EXPECT_TRUE(is_cut(one)) << deadline;
  }
  const std::size_t work = come("a", Phase::kAtWork), stream = come("a", Phase::kStreaming);
  pass(seconds(100'000));
  EXPECT_FALSE(is_cut(work));
  EXPECT_FALSE(is_cut(stream));
}

TEST_F(ConnectionsTest, WhoHasOverstayedMostGivesWayOfTheAddressThatHasMost) {
  const std::size_t lonely = come("b", Phase::kHeaders);
  pass(seconds(1));
  const std::size_t first = come("a", Phase::kHeaders);
  pass(seconds(1));
  const std::size_t second = come("a", Phase::kHeaders);
  const std::size_t idle = come("a", Phase::kIdle);
  pass(seconds(1));
  come("c");
  EXPECT_TRUE(is_cut(idle));  // nobody waits for it, so it has no patience
  pass(seconds(1));
  come("d");
  EXPECT_TRUE(is_cut(first));
  EXPECT_FALSE(is_cut(second));
  EXPECT_FALSE(is_cut(lonely));
}

TEST_F(ConnectionsTest, WhoIsServedNeverGivesWayAndWhoWasCutMakesRoomOnce) {
  const std::size_t work = come("a", Phase::kAtWork), stream = come("a", Phase::kStreaming),
                    slow = come("a", Phase::kBody), answered = come("a", Phase::kAnswer);
  pass(seconds(5));
  const std::size_t next = come("b");
  EXPECT_TRUE(is_cut(slow));
  EXPECT_FALSE(is_cut(answered));
  EXPECT_FALSE(is_cut(work));
  EXPECT_FALSE(is_cut(stream));
  EXPECT_FALSE(is_cut(next));
  EXPECT_EQ(connections_.size(), 5u);  // until its thread has seen it
  come("b");
  EXPECT_TRUE(is_cut(answered));
  EXPECT_FALSE(is_cut(next));
}

}  // namespace
}  // namespace stoa::admin
