// Deadlines of connections, and the choice of those that give way: with a clock of its own.
#include "frontends/http/connections.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace stoa::http {
namespace {

using std::chrono::seconds;

std::int64_t g_now_ns = 0;
std::int64_t test_clock() {
  return g_now_ns;
}

class ConnectionsTest : public testing::Test {
 protected:
  struct Pair {
    std::array<int, 2> fds{-1, -1};
    Connection* connection = nullptr;
  };
  ~ConnectionsTest() override {
    for (Pair& pair : pairs_) {
      if (pair.connection != nullptr) connections_.remove(pair.connection);
      for (const int fd : pair.fds) close(fd);
    }
  }
  static ClientAddress client(char name) {
    ClientAddress made{.bytes = {}, .text = std::string(1, name)};
    made.bytes[15] = static_cast<std::uint8_t>(name);
    return made;
  }
  std::size_t come(char name) {
    Pair pair;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.fds.data()), 0);
    pair.connection = connections_.add(pair.fds[0], client(name));
    pairs_.push_back(pair);
    return pairs_.size() - 1;
  }
  Connection& at(std::size_t which) { return *pairs_[which].connection; }
  bool is_cut(std::size_t which) {
    pollfd one{.fd = pairs_[which].fds[1], .events = POLLIN, .revents = 0};
    return poll(&one, 1, 0) == 1 && (one.revents & POLLHUP) != 0;
  }
  void pass(seconds time) {
    g_now_ns += std::chrono::nanoseconds(time).count();
    connections_.expire();
  }

  MetricRegistry metrics_;
  Counter& late_ = metrics_.counter("late", "");
  Counter& gave_way_ = metrics_.counter("gave_way", "");
  Connections connections_{{.connections_max = 4, .connections_per_address_max = 3}, {late_, gave_way_}, test_clock};
  std::vector<Pair> pairs_;
};

TEST_F(ConnectionsTest, AreCutOffAtTheirDeadlineWhoeverHasTheTurn) {
  const std::size_t idle = come('a'), work = come('a'), unbounded = come('b');
  at(idle).allow(seconds(30));
  ASSERT_TRUE(at(work).begin_work());
  at(work).allow(seconds(60));
  pass(seconds(29));
  EXPECT_FALSE(is_cut(idle));
  pass(seconds(1));
  EXPECT_TRUE(is_cut(idle));
  EXPECT_FALSE(at(idle).begin_work()) << "nothing may be done for it any more";
  EXPECT_FALSE(is_cut(work));
  pass(seconds(30));
  EXPECT_TRUE(is_cut(work));
  at(work).end_work();
  EXPECT_FALSE(at(work).begin_work());
  pass(seconds(100'000));
  EXPECT_FALSE(is_cut(unbounded));
  EXPECT_EQ(late_.value(), 2u);
}

TEST_F(ConnectionsTest, TheOneIdleForLongestGivesWayOfTheAddressThatHasMost) {
  const std::size_t lonely = come('b');
  pass(seconds(1));
  const std::size_t first = come('a');
  at(first).end_work(seconds(2));
  pass(seconds(1));
  const std::size_t second = come('a');
  at(second).end_work(seconds(2));
  const std::size_t impatient = come('a');
  ASSERT_TRUE(connections_.make_room(client('c')));
  EXPECT_TRUE(is_cut(impatient)) << "with it there is no patience";
  come('c');
  ASSERT_TRUE(connections_.make_room(client('d')));
  EXPECT_TRUE(is_cut(first));
  EXPECT_FALSE(is_cut(second));
  EXPECT_FALSE(is_cut(lonely));
  EXPECT_EQ(gave_way_.value(), 2u);
}

TEST_F(ConnectionsTest, AnAddressHasItsShareAndGivesWayToItself) {
  const std::size_t first = come('a'), other = come('b');
  pass(seconds(1));
  come('a');
  come('a');
  ASSERT_TRUE(connections_.make_room(client('a')));
  EXPECT_TRUE(is_cut(first));
  EXPECT_FALSE(is_cut(other));
}

TEST_F(ConnectionsTest, OneAtWorkNeverGivesWayAndOneThatWasCutMakesRoomOnce) {
  std::vector<std::size_t> all{come('a'), come('a'), come('b'), come('b')};
  for (const std::size_t one : all) ASSERT_TRUE(at(one).begin_work());
  EXPECT_FALSE(connections_.make_room(client('c')));
  at(all[0]).end_work();
  EXPECT_TRUE(connections_.make_room(client('c')));
  EXPECT_TRUE(is_cut(all[0]));
  come('c');
  EXPECT_EQ(connections_.size(), 5u) << "until its thread has seen it";
  ASSERT_TRUE(at(4).begin_work());
  EXPECT_FALSE(connections_.make_room(client('d')));
  connections_.remove(std::exchange(pairs_[1].connection, nullptr));
  EXPECT_TRUE(connections_.make_room(client('d')));
}

}  // namespace
}  // namespace stoa::http
